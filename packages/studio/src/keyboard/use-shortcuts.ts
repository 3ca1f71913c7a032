/**
 * The keyboard shortcuts of the page. No shortcut is active while a person types, and none overrides a shortcut of the
 * browser.
 */
import type { InstanceAddress, InstanceView, WorkspaceView } from '@goondan/cli/studio';
import { useEffect, useRef } from 'react';
import type { Route, RouteChange } from '../route/route.ts';

export interface ShortcutParts {
  readonly route: Route;
  /** The conversations, in the order of the sidebar. */
  readonly conversations: readonly InstanceView[];
  readonly questions: WorkspaceView['questions'];
  readonly shown: InstanceAddress | undefined;
  readonly show: (change: RouteChange) => void;
  readonly toggleHelp: () => void;
  readonly changeTheme: () => void;
}

export const shortcuts: readonly { readonly keys: string; readonly does: string }[] = [
  { keys: '/', does: 'write a message' },
  { keys: 'j  k', does: 'next and previous conversation' },
  { keys: 'o', does: 'the onion of the latest turn' },
  { keys: '[  ]', does: 'one event back, one event on' },
  { keys: 'n', does: 'back to now' },
  { keys: 'a', does: 'the question that waits for you' },
  { keys: 't', does: 'light or dark' },
  { keys: 'Esc', does: 'close what is open' },
  { keys: '?', does: 'these keys' },
];

export function useShortcuts(parts: ShortcutParts): void {
  const latest = useRef(parts);
  latest.current = parts;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
      // While a dialog is open, only its own keys work.
      if (document.querySelector('dialog[open]') !== null) return;
      if (event.key === 'Escape') return leave(latest.current);
      if (isTyping(event.target)) return;
      if (act(event.key, latest.current)) event.preventDefault();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

/** Handles a key. Returns true if the key is a shortcut. */
function act(key: string, parts: ShortcutParts): boolean {
  switch (key) {
    case '/':
      return focusOn('.composer textarea');
    case 'a':
      return focusOn('.question :is(a, button, input, select, textarea)') || showQuestion(parts);
    case 'j':
    case 'k':
      return move(parts, key === 'j' ? 1 : -1);
    case 'o':
      return clickOn('.turn-onion');
    case '[':
      return clickOn('.timeline .step-back');
    case ']':
      return clickOn('.timeline .step-on');
    case 'n':
      parts.show({ at: undefined });
      return true;
    case 't':
      parts.changeTheme();
      return true;
    case '?':
      parts.toggleHelp();
      return true;
    default:
      return false;
  }
}

function leave({ route, show }: ShortcutParts): void {
  const { activeElement } = document;
  if (isTyping(activeElement) && activeElement instanceof HTMLElement) return activeElement.blur();
  if (route.turn !== undefined) return show({ turn: undefined });
  if (route.at !== undefined) show({ at: undefined });
}

function move({ conversations, shown, show }: ShortcutParts, by: number): boolean {
  const place = conversations.findIndex(
    ({ agent, instanceKey }) => agent === shown?.agent && instanceKey === shown.instanceKey,
  );
  const next = conversations[place + by];
  if (next !== undefined) show({ agent: next.agent, instanceKey: next.instanceKey, at: undefined, turn: undefined });
  return true;
}

function focusOn(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus();
  return found !== null;
}

/** Clicks the last element that matches the selector, which is the newest one. Returns false if none matches. */
function clickOn(selector: string): boolean {
  const found = [...document.querySelectorAll<HTMLElement>(selector)].at(-1);
  found?.click();
  return found !== undefined;
}

/** Opens the conversation whose question waits for a person. */
function showQuestion({ questions: [first], show }: ShortcutParts): boolean {
  if (first === undefined) return false;
  show({ agent: first.agent, instanceKey: first.instanceKey, at: undefined, turn: undefined });
  return true;
}

export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== 'range';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
