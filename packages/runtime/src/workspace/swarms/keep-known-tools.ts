import type { AgentDescription } from '../../ipc/from-agent.ts';

/**
 * Adds to a description the tools that extensions offered before, where the current ones are not known yet: a server is
 * connected later than its agent starts. Pure.
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
  // The same fields, with more tools.
  return {
    ...rest,
    tools: [...tools, ...kept.map(({ name }) => name)],
    registered: [...registered, ...kept],
    ...(left.length > 0 && { unknown: left }),
  } as unknown as Described;
}
