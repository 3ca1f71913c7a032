/** The tools by which a model calls other agents: part of the runtime, so they need no declaration. */
import type { Scope } from './bundle.ts';
import type { WrittenReference } from './kinds/fields.ts';
import { parseReference } from './references.ts';

const AGENT_TOOLS = 'Tool/agents';
/** Where the other ready-made tools come from: who looks for these there finds the same ones. */
const BASE_LIBRARY = '@goondan/base';

/** As the model sees them. */
export const AGENT_TOOL_NAMES: readonly string[] = ['request', 'send', 'list', 'catalog'].map(
  (name) => `agents__${name}`,
);

/** `Tool/agents`, of the base library or of none, where nobody declares one: the runtime's own are meant. */
export function meansAgentTools(scope: Scope, written: WrittenReference): boolean {
  const reference = parseReference(written);
  if (reference === undefined || `${reference.kind}/${reference.name}` !== AGENT_TOOLS) return false;
  if (reference.package !== undefined && reference.package !== BASE_LIBRARY) return false;
  const home = reference.package === undefined ? scope : scope.packages.get(reference.package);
  return home !== undefined && !home.declared.has(AGENT_TOOLS);
}
