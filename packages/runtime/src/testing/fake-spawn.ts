/**
 * Fake children without processes, for tests of code that starts and supervises processes. The test acts as the child.
 */
import type { Channel } from '../ipc/channel/channel.ts';
import type { FrameFiles } from '../ipc/channel/frame-files.ts';
import { connectInMemory } from './connect-in-memory.ts';
import type { Language } from '../ipc/codec.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChildExit, ChildProcess, Spawn, SpawnRequest } from '../ipc/spawn.ts';

export interface FakeChild<Down, Up> {
  readonly pid: number;
  readonly request: SpawnRequest;
  /** The child's end of the channel. */
  readonly channel: Channel<Up, Down>;
  /** The grace period of each `kill`, in order. */
  readonly kills: readonly number[];
  /** Ends the child as a process would end: first its messages arrive, then its channel closes, then it has exited. */
  exit(how?: Partial<ChildExit>): void;
}

export interface FakeSpawnOptions {
  readonly clock?: Clock;
  /** Called when a child is killed. When absent, the child exits at once, as after SIGKILL. */
  readonly onKill?: (child: Omit<FakeChild<unknown, unknown>, 'channel'>, graceMs: number) => void;
  /** Called before each spawn. It may throw, to simulate a system that cannot start more processes. */
  readonly beforeSpawn?: (request: SpawnRequest) => void;
  /** Called before each message to a child. It may throw, to simulate a child that reads too slowly. */
  readonly beforeSend?: (message: unknown) => void;
  /** Files for messages that are too long for a frame; in memory when absent. */
  readonly files?: FrameFiles;
}

export interface FakeSpawn<Down, Up> {
  readonly spawn: Spawn;
  /** All children so far, oldest first. */
  readonly children: readonly FakeChild<Down, Up>[];
}

const FIRST_PID = 1_000_001;

/**
 * Creates the spawn function. `Down` is the type of the messages to the child, and `Up` the type of the messages from
 * it, as in `fakeSpawn<ToAgent, FromAgent>()`.
 */
export function fakeSpawn<Down, Up>(options: FakeSpawnOptions = {}): FakeSpawn<Down, Up> {
  const children: FakeChild<Down, Up>[] = [];
  const spawn: Spawn = (language, request) => {
    options.beforeSpawn?.(request);
    const started = startChild(language, request, FIRST_PID + children.length, options);
    // The cast is safe: the caller chose the message types of its children.
    children.push(started.child as unknown as FakeChild<Down, Up>);
    return started.process;
  };
  return { spawn, children };
}

function startChild<Down, Up>(
  language: Language<Down, Up>,
  request: SpawnRequest,
  pid: number,
  { clock, files, beforeSend, onKill = endAtOnce }: FakeSpawnOptions,
): { child: FakeChild<Down, Up>; process: ChildProcess<Down, Up> } {
  const [parentEnd, childEnd] = connectInMemory(language, {
    ...(clock === undefined ? {} : { clock }),
    ...(files === undefined ? {} : { files }),
  });
  const send = parentEnd.send.bind(parentEnd);
  parentEnd.send = async (message) => {
    beforeSend?.(message);
    return send(message);
  };
  const exited = Promise.withResolvers<ChildExit>();
  const kills: number[] = [];
  const child: FakeChild<Down, Up> = {
    pid,
    request,
    channel: childEnd,
    kills,
    exit({ code = null, signal = null, leftBehind = 0, ...more } = { code: 0 }) {
      childEnd.close();
      parentEnd.onClose(() => exited.resolve({ code, signal, leftBehind, ...more }));
    },
  };
  return {
    child,
    process: {
      pid,
      channel: parentEnd,
      exited: exited.promise,
      async kill(graceMs) {
        kills.push(graceMs);
        onKill(child, graceMs);
        return exited.promise;
      },
    },
  };
}

function endAtOnce(child: Pick<FakeChild<unknown, unknown>, 'exit'>): void {
  child.exit({ signal: 'SIGKILL' });
}
