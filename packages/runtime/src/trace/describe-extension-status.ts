import type { ExtensionStatus, ExtensionStatusChanged } from '@goondan/types';

/**
 * Describes a status for people. Returns one line, followed by the last lines that the server printed, unless the first
 * line quotes them. `time` formats a time.
 *
 * @example
 * ['files: failed since 2026-01-02T03:04:05.678Z: MCP server "files" cannot be reached. (E_MCP_CONNECT)', 'bad token']
 */
export function describeExtensionStatus(
  status: ExtensionStatus & Pick<ExtensionStatusChanged, 'extension' | 'since'>,
  time: (iso: string) => string = (iso) => iso,
): readonly string[] {
  const { extension, state, since, tools, withheld = [], lost = 0, problem, lines = [] } = status;
  const isConnected = state === 'connected';
  const parts = [
    state === 'idle' ? 'idle' : `${state} since ${time(since)}`,
    ...(isConnected && tools !== undefined ? [counted(tools.length, 'tool')] : []),
    ...(withheld.length === 0 ? [] : [`${withheld.length} withheld`]),
    ...(lost === 0 ? [] : [`lost ${counted(lost, 'time')}`]),
  ].join(', ');
  const reason = problem === undefined ? '' : `${isConnected ? ', the last time because' : ':'} ${problem}`;
  const first = `${extension}: ${parts}${reason}`;
  return [first, ...(isConnected ? [] : lines.filter((line) => !first.includes(line)))];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
