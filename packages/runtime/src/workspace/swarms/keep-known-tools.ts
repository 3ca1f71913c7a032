import type { AgentDescription } from '../../ipc/from-agent.ts';

/**
 * Adds to a description the tools that an extension offered earlier, if its current tools are not known yet. They may
 * be unknown because a server connects after its agent has started. This is a pure function.
 */
export function keepKnownTools<Described extends AgentDescription>(
  description: Described,
  before: AgentDescription | undefined,
): Described {
  const { unknown = [], registered = [], tools } = description;
  const kept = (before?.registered ?? []).filter(
    ({ name, extension }) => unknown.includes(extension) && !tools.includes(name),
  );
  if (kept.length === 0) return description;
  const { unknown: _, ...rest } = description;
  const left = unknown.filter((extension) => !kept.some((tool) => tool.extension === extension));
  // Safe: the result has the same fields as the argument; only its tools differ.
  return {
    ...rest,
    tools: [...tools, ...kept.map(({ name }) => name)],
    registered: [...registered, ...kept],
    ...(left.length > 0 && { unknown: left }),
  } as unknown as Described;
}
