/** The testing kit: `import { scriptedAgent, extension } from '@goondan/runtime/testing'`. */
export { type QuestionSeams, questionConformance } from './conformance/question-conformance.ts';
export { blobConformance, type BlobSeams } from './conformance/blob-conformance.ts';
export { counterConformance, type CounterSeams } from './conformance/counter-conformance.ts';
export type { OpenedSeams, OpenSeams, RegisterCheck } from './conformance/conformance.ts';
export { inboxConformance, type InboxSeams } from './conformance/inbox-conformance.ts';
export { placementConformance, type PlacementSeams } from './conformance/placement-conformance.ts';
export { type ConversationSeams, storeConformance } from './conformance/store-conformance.ts';
export {
  memoryAnswers,
  memoryQuestions,
  memoryConversations,
  memoryCounters,
  memoryInbox,
  memoryPlacement,
  MemorySwarm,
} from './conformance/memory-seams.ts';
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
