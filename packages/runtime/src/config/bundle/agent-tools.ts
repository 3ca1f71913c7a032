/** The tools by which a model calls other agents: part of the runtime, so they need no declaration. */
export const AGENT_TOOLS = 'Tool/agents';

/** As the model sees them. */
export const AGENT_TOOL_NAMES: readonly string[] = ['request', 'send', 'list', 'catalog'].map(
  (name) => `agents__${name}`,
);
