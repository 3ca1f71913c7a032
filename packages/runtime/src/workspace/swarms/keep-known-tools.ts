import type { AgentDescription } from '../../ipc/from-agent.ts';

/**
 * A description with the tools that extensions offered before, where nobody knows yet which they offer now: a server is
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
  // The fields it had, with more tools.
  return {
    ...rest,
    tools: [...tools, ...kept.map(({ name }) => name)],
    registered: [...registered, ...kept],
    ...(left.length > 0 && { unknown: left }),
  } as unknown as Described;
}
