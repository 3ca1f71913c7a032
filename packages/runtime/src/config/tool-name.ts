import { GoondanError } from '@goondan/types';

/** `{resource}__{export}`; 64 of these characters is what every provider accepts. */
const pattern = /^(?=.{1,64}$)[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*__[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*$/;

/** Throws `E_TOOL_NAME` unless the name has the form every tool's has. */
export function checkToolName(name: unknown): string {
  if (typeof name === 'string' && isToolName(name)) return name;
  throw new GoondanError(
    'E_TOOL_NAME',
    `"${String(name)}" is no tool name: it must be {resource}__{export}, at most 64 of A-Z a-z 0-9 _ -.`,
  );
}

export function isToolName(name: string): boolean {
  return pattern.test(name);
}
