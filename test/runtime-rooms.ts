// The rooms of packages/runtime/src, listed once for all tests.

/** One process each: the border of a process is that of a folder and of imports. */
export const processRooms: readonly string[] = ['orchestrator', 'agent', 'connector', 'keeper'];

/**
 * Rooms that these processes share, lowest floor first. A room may import the rooms listed before it, including types.
 */
export const sharedRooms: readonly string[] = [
  'ports',
  'json',
  'log',
  'files',
  'messages',
  'trace',
  'usage',
  'ipc',
  'workspace',
  'store',
  'config',
  'telemetry',
  'bundle-imports',
  'control',
];

/**
 * The rooms inside a room, lowest floor first: a file imports from its own room and from those before it, types
 * included. Each folder is a room, also a folder inside another. `.` is the parent's own folder. A file in that folder
 * that belongs to a higher floor is listed by its name.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  agent: [
    '.',
    'secrets',
    'files',
    'conversation',
    'pipeline',
    'tool',
    'output',
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
    'change',
    'start',
    'replay',
    'process',
    'main.ts',
  ],
  orchestrator: [
    'address',
    'supervision',
    'guardian',
    'child',
    'ingress',
    'calls',
    'plan',
    'instances',
    'keepers',
    'changes',
    'approvals',
    'router',
    'watch',
    'swarm',
    'connections',
    'lone',
    'reload',
    'changesets',
    'control',
    'start',
    '.',
  ],
  store: ['.', 'files', 'log', 'export'],
  workspace: [
    '.',
    'layout',
    'lines',
    'log-file',
    'lock',
    'records',
    'inbox',
    'archive',
    'history',
    'traces',
    'logs',
    'approvals',
    'changesets',
    'trust',
    'packs',
    'journal',
    'format-1',
    'swarms',
    'backup',
    'simulation',
    'simulation/mutants',
  ],
};
