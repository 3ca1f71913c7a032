// The rooms of packages/runtime/src, said once for the tests that ask.

/** One process each: process border = folder border = import border. */
export const processRooms: readonly string[] = ['orchestrator', 'agent', 'connector'];

/** What those processes share. */
export const sharedRooms: readonly string[] = [
  'bundle-imports',
  'config',
  'control',
  'ipc',
  'json',
  'log',
  'messages',
  'ports',
  'telemetry',
  'trace',
  'workspace',
];
