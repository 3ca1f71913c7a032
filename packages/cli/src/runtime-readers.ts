/**
 * What commands load of the runtime when they run. They do not load its index: as a module of its own, that one would take
 * the whole runtime into the bundle of every command (`scripts/build-cli.ts`).
 */
export {
  blame,
  describeChanges,
  isBelowSwarm,
  isTrusted,
  listTurns,
  pendingInputs,
  readConversationAt,
  readHistory,
  readSwarmLog,
  readTurnTrace,
  renderMermaid,
} from '@goondan/runtime';
