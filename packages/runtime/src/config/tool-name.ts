import { GoondanError } from '@goondan/types';

/** The form `{resource}__{export}`, with at most 64 characters. Only the name of a resource may have dots. */
const pattern = /^(?=.{1,64}$)[A-Za-z0-9-]+(?:[._][A-Za-z0-9-]+)*__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

/**
 * The name of the tool with which a model gives an answer that must fit a schema. No other tool may have it, also in agents
 * that demand no schema: their callers may demand one.
 */
export const FINISH_TOOL = 'output__finish';

const exportPattern = /^(?!.*__)[a-z0-9_-]+$/;

/** Returns the name, or throws `E_TOOL_NAME` when the name does not have the form of tool names. */
export function checkToolName(name: unknown): string {
  if (name === FINISH_TOOL) {
    const message = `A tool cannot be called "${FINISH_TOOL}": the runtime has a tool of that name.`;
    throw new GoondanError('E_TOOL_NAME', message, { suggestion: 'Rename the tool.' });
  }
  if (typeof name === 'string' && isToolName(name)) return name;
  const shown = String(name);
  const problem = name === undefined ? 'A tool has no name: its name' : `"${shown}" is not a tool name: it`;
  throw new GoondanError(
    'E_TOOL_NAME',
    `${problem} must be {resource}__{export}, with at most 64 of the characters A-Z a-z 0-9 _ - (and . in the resource).`,
  );
}

export function isToolName(name: string): boolean {
  return pattern.test(name);
}

/**
 * Returns true if a declared tool may have this name. The rule is stricter than for tools of extensions, so that
 * declared names look alike.
 */
export function isExportName(name: unknown): boolean {
  return typeof name === 'string' && exportPattern.test(name);
}
