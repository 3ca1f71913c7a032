/** Errors about things that v0.10 allowed and that do not exist any more. Each one says what to use instead. */
import { GoondanError } from '@goondan/types';

/** `problem` continues the name of the extension: 'called next() twice at step.llmCall'. */
export function compatError(extension: string, problem: string, suggestion: string): GoondanError {
  return attribute(new GoondanError('E_EXT_COMPAT', `Extension "${extension}" ${problem}.`, { suggestion }), extension);
}

export function resultError(extension: string, point: string, problem: string): GoondanError {
  const message = `Extension "${extension}", ${point}: ${problem}.`;
  return attribute(new GoondanError('E_MIDDLEWARE_RESULT', message), extension);
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
): void {
  for (const [member, suggestion] of Object.entries(removed)) {
    Object.defineProperty(target, member, {
      configurable: true,
      get() {
        throw compatError(extension, `uses ${owner}.${member}, which no longer exists`, suggestion);
      },
    });
  }
}
