/** The tools with which a model calls other agents. They are part of the runtime, so a bundle does not declare them. */
import type { Scope } from './bundle.ts';
import { BASE_LIBRARY } from './base-library.ts';
import type { WrittenReference } from './kinds/fields.ts';
import { parseReference } from './references.ts';

const AGENT_TOOLS = 'Tool/agents';

/** The tool names that the model sees. */
export const AGENT_TOOL_NAMES: readonly string[] = ['request', 'send', 'list', 'catalog'].map(
  (name) => `agents__${name}`,
);

/**
 * Returns true if a reference means the tools of the runtime. Such a reference is `Tool/agents`, either without a
 * package or from the base library, which has the other ready-made tools. If the scope or the package declares a resource of that name, the
 * reference means that resource.
 */
export function meansAgentTools(scope: Scope, written: WrittenReference): boolean {
  const reference = parseReference(written);
  if (reference === undefined || `${reference.kind}/${reference.name}` !== AGENT_TOOLS) return false;
  if (reference.package !== undefined && reference.package !== BASE_LIBRARY) return false;
  const home = reference.package === undefined ? scope : scope.packages.get(reference.package);
  return home !== undefined && !home.declared.has(AGENT_TOOLS);
}
