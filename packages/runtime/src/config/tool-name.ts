import { GoondanError } from '@goondan/types';

/** The maximum length of the name of a tool. */
export const LONGEST_TOOL_NAME = 256;

/** The form of declared names: `{resource}__{export}`, with at most 64 characters. Only a resource may have dots. */
const declaredPattern = /^(?=.{1,64}$)[A-Za-z0-9-]+(?:[._][A-Za-z0-9-]+)*__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

/**
 * The name of the tool with which a model gives an answer that must fit a schema. No other tool may have it, also in agents
 * that demand no schema: their callers may demand one.
 */
export const FINISH_TOOL = 'output__finish';

const exportPattern = /^(?!.*__)[a-z0-9_-]+$/;

/**
 * Returns the name, or throws `E_TOOL_NAME` when the name does not have the form of tool names. A tool that an extension
 * registers may come from a server, so its two parts may have any characters; a provider gets another name.
 */
export function checkToolName(name: unknown, origin: 'declared' | 'registered'): string {
  if (name === FINISH_TOOL) {
    const message = `A tool cannot be called "${FINISH_TOOL}": the runtime has a tool of that name.`;
    throw new GoondanError('E_TOOL_NAME', message, { suggestion: 'Rename the tool.' });
  }
  const isFitting = origin === 'declared' ? isDeclaredName : isRegisteredName;
  if (typeof name === 'string' && isFitting(name)) return name;
  const shown = String(name).slice(0, LONGEST_TOOL_NAME);
  const problem = name === undefined ? 'A tool has no name: its name' : `"${shown}" is not a tool name: it`;
  const form =
    origin === 'declared'
      ? 'at most 64 of the characters A-Z a-z 0-9 _ - (and . in the resource)'
      : `at most ${LONGEST_TOOL_NAME} characters`;
  throw new GoondanError('E_TOOL_NAME', `${problem} must be {resource}__{export}, with ${form}.`);
}

export function isDeclaredName(name: string): boolean {
  return declaredPattern.test(name);
}

function isRegisteredName(name: string): boolean {
  return name.length <= LONGEST_TOOL_NAME && /^.+__.+$/s.test(name);
}

/**
 * Returns true if a declared tool may have this name. The rule is stricter than for tools of extensions, so that
 * declared names look alike.
 */
export function isExportName(name: unknown): boolean {
  return typeof name === 'string' && exportPattern.test(name);
}
