/** `@goondan/runtime/bundle`: reads `goondan.yaml` into the plan of a swarm, compares plans, and remembers trusted folders. */
export type { Bundle, LoadedResource, Scope } from './config/bundle/bundle.ts';
export type { BundleProblem } from './config/bundle/bundle-problem.ts';
export { readSchemaFile } from './config/bundle/files/read-schema-file.ts';
export { type BundleSwarms, loadBundle, loadSwarms } from './config/bundle/load-bundle.ts';
export { loadPrices, readPrices } from './config/bundle/prices/load-prices.ts';
export { type DeclaredAgents, declaredAgents } from './config/bundle/resolve/declared-agents.ts';
export { type ResolvedSwarm, type ResolveOptions, resolveSwarm } from './config/bundle/resolve/resolve-swarm.ts';
export type { DeclaredAgent } from './config/declared-agent.ts';
export type { DeclaredExtension, Tier } from './config/declared-extension.ts';
export type { DeclaredTool, ToolExport } from './config/declared-tool.ts';
export type { ModelSpec } from './config/model-spec.ts';
export { describeChanges, type PlanReconcile, planReconcile } from './config/plan-reconcile.ts';
export { type AgentReconcile, type PartChange, reconcileAgent } from './config/reconcile-agent.ts';
export type { ConnectionPlan } from './config/swarm-plan.ts';
export type { SwarmPolicy } from './config/swarm-policy.ts';
export type { TurnPolicy } from './config/turn-policy.ts';
export { isTrusted, rememberTrust, type TrustedFolder } from './workspace/trust/trusted-folders.ts';
