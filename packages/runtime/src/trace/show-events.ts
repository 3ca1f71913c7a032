/** Shows recorded message events to people: by the first words of their messages, because ids tell them nothing. */
import type { Change } from '../json/diff-json.ts';
import { shortTurnId } from '../ports/turn-ids.ts';
import type { ChainRecord } from './turn-trace.ts';

export interface ShownEvent {
  /** The change, such as `append system`; with an id when the words are unknown. */
  readonly what: string;
  /** The words of the message; absent when they are not recorded. */
  readonly words?: string;
}

/** Collects the texts of all messages that layers of this turn emitted, by id. Called turns are left out. */
export function knownMessages(chain: ChainRecord, known = new Map<string, string>()): ReadonlyMap<string, string> {
  for (const { messages } of chain.layers) {
    for (const { path, after } of messages) if (after !== undefined) known.set(path, wordsOf(after));
  }
  for (const inner of chain.inside) knownMessages(inner, known);
  return known;
}

/**
 * Shows the events of a layer. `emitted`: such as `append system <id>`, `remove <id>` or `truncate`. `messages`: the
 * texts of the layer's own events, in their order. `texts`: the texts of all messages of the turn, by id.
 */
export function showEvents(
  emitted: readonly string[],
  messages: readonly Change[],
  texts: ReadonlyMap<string, string>,
): ShownEvent[] {
  const own = [...messages];
  return emitted.map((event) => {
    const [, what = event, id, author] =
      /^(append \S+|replace|remove) (.+?)(?: \(extension (\S+)\))?$/s.exec(event) ?? [];
    const at = what === 'remove' ? -1 : own.findIndex(({ path }) => path === id);
    const [{ after } = {}] = at < 0 ? [] : own.splice(at, 1);
    const words = after === undefined ? texts.get(id ?? '') : wordsOf(after);
    if (words !== undefined && words.trim() !== '') return { what: withAuthor(what, author), words };
    return { what: event.replaceAll(TURN_ID, (turnId) => shortTurnId(turnId)) };
  });
}

/** Adds the extension in whose name a layer emitted an event. */
export function withAuthor(event: string, author: string | undefined): string {
  return author === undefined ? event : `${event} (extension ${author})`;
}

/** Matches the turn's id in the ids that the runtime gives to messages, such as `turn-event-….step-0.reply`. */
const TURN_ID = /turn-(?:event|heard|call)-[0-9a-f]{8}[0-9a-f-]*/g;

/** Returns the texts of a message's content, which is a text or a list of parts as JSON. */
function wordsOf(content: string): string {
  if (!content.startsWith('[')) return content;
  try {
    const texts = (JSON.parse(content) as readonly { readonly text?: unknown }[]).map(({ text }) => text);
    return texts.every((text) => typeof text === 'string') ? texts.join(' ') : content;
  } catch {
    // A long content was cut when it was recorded.
    return content;
  }
}
