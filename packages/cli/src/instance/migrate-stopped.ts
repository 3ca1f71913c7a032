// A file of its own, because only a command that meets the files of an older version has to load the orchestrator.
export { migrateStoppedSwarm } from '@goondan/runtime/internal';
