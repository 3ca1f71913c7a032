/** The tools by which a model calls other agents: part of the runtime, so they need no declaration. */
export const AGENT_TOOLS = 'Tool/agents';
