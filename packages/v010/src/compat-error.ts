/** Errors about things that v0.10 allowed and that do not exist any more. Each one says what to use instead. */
import { GoondanError } from '@goondan/types';
import { isMiddlewarePoint } from './points.ts';

export const CHANGE_BUNDLE = 'Edit the bundle and run `gdn reload`, or let the agent change it with the tool `bundle`.';

/** `problem` continues the name of the extension: 'called next() twice at step.llmCall'. */
export function compatError(extension: string, problem: string, suggestion: string): GoondanError {
  return attribute(new GoondanError('E_EXT_COMPAT', `Extension "${extension}" ${problem}.`, { suggestion }), extension);
}

/** `suggestion`: the default is about the value that the function returned. */
export function resultError(
  extension: string,
  point: string,
  problem: string,
  suggestion: string = isMiddlewarePoint(point)
    ? 'Return the result of `next(ctx)`, or a copy of it with your changes.'
    : 'Return the context, or a copy of it with your changes: `{ ...ctx, … }`.',
): GoondanError {
  const message = `Extension "${extension}", ${point}: ${problem}.`;
  return attribute(new GoondanError('E_MIDDLEWARE_RESULT', message, { suggestion }), extension);
}

/** Returns the frames of the callers. */
export function stackHere(): string {
  const { stack = '' } = new Error('here');
  return stack.slice(stack.indexOf('\n') + 1);
}

/**
 * Gives an error about the result of a function the place where the function was registered. The function has returned,
 * so no line of it is in the stack of the error.
 */
export function withPlace<Thrown>(thrown: Thrown, { registeredAt }: { readonly registeredAt: string }): Thrown {
  if (GoondanError.is(thrown)) thrown.stack = `${thrown.name}: ${thrown.message}\n${registeredAt}`;
  return thrown;
}

const finalCodes: ReadonlySet<string> = new Set([
  'E_EXT_COMPAT',
  'E_MIDDLEWARE_RESULT',
  'E_NEXT_LATE',
  'E_NEXT_NOT_AWAITED',
]);

/** Returns true for a mistake in the code of an extension, which another try would only repeat. */
export function isMistake(thrown: unknown): boolean {
  return GoondanError.is(thrown) && finalCodes.has(thrown.code);
}

/**
 * Writes the name of the extension on an error, as the runtime does for the layer that threw. The layer belongs to the
 * first old extension, so without the name the runtime would blame that one.
 */
export function attribute<Thrown>(thrown: Thrown, extension: string): Thrown {
  if (typeof thrown !== 'object' || thrown === null || 'extensionName' in thrown) return thrown;
  Reflect.defineProperty(thrown, 'extensionName', { value: extension, configurable: true });
  if (GoondanError.is(thrown)) {
    Reflect.defineProperty(thrown, 'extension', { value: extension, configurable: true, writable: true });
  }
  return thrown;
}

/** Adds getters that throw. They are not enumerable, so that `{ ...ctx }` does not read them. */
export function addRemoved(
  target: object,
  owner: string,
  removed: Readonly<Record<string, string>>,
  extension: string,
  reason = 'which no longer exists',
): void {
  for (const [member, suggestion] of Object.entries(removed)) {
    Object.defineProperty(target, member, {
      configurable: true,
      get() {
        throw compatError(extension, `uses ${owner}.${member}, ${reason}`, suggestion);
      },
    });
  }
}

/** Returns an object whose removed members throw. They are on its prototype, so that a copy of the object lacks them. */
export function withRemoved(owner: string, removed: Readonly<Record<string, string>>, extension: string): object {
  const prototype = {};
  addRemoved(prototype, owner, removed, extension);
  return Object.create(prototype) as object;
}
