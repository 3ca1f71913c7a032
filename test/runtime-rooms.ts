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

/**
 * The rooms inside a room, lowest floor first: a file imports from its own room and from those before it, types
 * included. Each folder is a room, also one inside another. `.` is the parent's own folder; a file in it that belongs
 * higher up is listed by its name.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  agent: [
    '.',
    'secrets',
    'conversation',
    'pipeline',
    'tool',
    'model',
    'model/providers',
    'model/providers/wire',
    'model/cassette',
    'model/scripted',
    'draws',
    'extension',
    'seams',
    'turn-state',
    'agents-api',
    'tool-call',
    'model-call',
    'step',
    'turn',
    'start',
    'replay',
    'process',
    'main.ts',
  ],
};
