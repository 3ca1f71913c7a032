/** The testing kit: `import { scriptedAgent, extension } from '@goondan/runtime/testing'`. */
export { type Answer, type FakeApprover, fakeApprover } from './fake-approver.ts';
export { type FakeChangesets, type FakeChangesetsOptions, fakeChangesets } from './fake-changesets.ts';
export { type AgentHandler, type InProcessEngine, inProcessEngine } from './in-process-engine.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export type { RecordedRequest } from './record-requests.ts';
export {
  extension,
  extensionFile,
  type ScriptedAgent,
  scriptedAgent,
  type ScriptedAgentOptions,
  type TestedTurn,
  type ToldEvent,
} from './scripted-agent.ts';
