/**
 * The handle of a swarm on many nodes. It uses one node, and goes on with another one when that node is gone: every node
 * passes requests on to the node that owns the conversation.
 *
 * 1. An input gets its id here, so that a second node does not accept it twice.
 * 2. Only requests that may happen twice are repeated. The others fail with the error of the lost connection.
 * 3. A watch goes on at another node, with the notice `dropped`: some notices may be lost in between.
 */
import type { Acceptance, AskOptions, Delivery, Swarm, SwarmNotice, SwarmWatch, WatchFilter } from '@goondan/runtime';
import { type Clock, randomIds, sleep, systemClock, typedAsk, typedWatch } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

export interface Nodes {
  /** Connects to a living node; returns `undefined` when none answers. */
  readonly connect: () => Promise<Swarm | undefined>;
  readonly clock?: Clock;
}

/** How long to look for another node while none answers: the lease of a node that died, and time to start one. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 250;

/** The error codes of a node that stops, has stopped, cannot be reached any more, or whose place another program has. */
const goneCodes: readonly string[] = [
  'E_CONTROL_CLOSED',
  'E_CONTROL_SILENT',
  'E_SWARM_STOPPED',
  'E_FENCED',
  'E_CLUSTER_CERTIFICATE',
];

export function roamingSwarm(first: Swarm, { connect, clock = systemClock }: Nodes): Swarm {
  let current: Promise<Swarm | undefined> | undefined = Promise.resolve(first);

  /** Runs `work` at a node, and again at another one if the node is gone. */
  async function reach<Value>(work: (node: Swarm) => Promise<Value>, patienceMs: number): Promise<Value> {
    const deadline = clock.elapsed() + patienceMs;
    let lost: unknown;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt > 1 && clock.elapsed() >= deadline;
      const used = (current ??= connect());
      const forget = () => {
        if (current === used) current = undefined;
      };
      try {
        const node = await used;
        if (node !== undefined) return await work(node);
        lost ??= noNode();
      } catch (error) {
        // A database that changes its server is away for some seconds.
        if (!isGone(error) && !isStoreAway(error)) {
          forget();
          throw error;
        }
        lost = error;
      }
      forget();
      if (isLast) throw lost;
      // The second attempt comes at once: most often, another node lives.
      if (attempt > 1) await sleep(clock, AGAIN_MS);
    }
  }

  /** Runs `work` at a node. If the node is gone, the next request uses another one. */
  async function once<Value>(work: (node: Swarm) => Promise<Value>): Promise<Value> {
    try {
      const node = await (current ??= connect());
      if (node === undefined) throw noNode();
      return await work(node);
    } catch (error) {
      current = undefined;
      throw error;
    }
  }

  const again = <Value>(work: (node: Swarm) => Promise<Value>) => reach(work, 0);
  const patiently = <Value>(work: (node: Swarm) => Promise<Value>) => reach(work, PATIENCE_MS);

  async function ask(delivery: Delivery, options: AskOptions = {}) {
    const { signal, onAccepted, onCancelled, ...others } = options;
    if (signal?.aborted) throw new GoondanError('E_CANCELLED', 'The request was cancelled before it was sent.');
    const named = withId(delivery);
    let accepted: Acceptance | undefined;
    let isCancelled = false;
    const cancel = () => {
      if (accepted === undefined || isCancelled) return;
      isCancelled = true;
      const { agent, instanceKey, eventId } = accepted;
      // The end of the turn shows whether the cancel succeeded.
      void patiently((node) => node.cancel({ agent, instanceKey, eventId })).then(onCancelled, () => undefined);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    const hear = (acceptance: Acceptance) => {
      if (accepted !== undefined) return;
      accepted = acceptance;
      onAccepted?.(acceptance);
      if (signal?.aborted) cancel();
    };
    try {
      return await patiently((node) => node.ask(named, { ...others, onAccepted: hear }));
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  async function watch(filter: WatchFilter, listener: (notice: SwarmNotice) => void): Promise<SwarmWatch> {
    const over = new AbortController();
    let part = await again((node) => node.watch(filter, listener));
    const follow = async () => {
      while (!over.signal.aborted) {
        await part.ended.catch((error: unknown) => {
          if (!isGone(error)) throw error;
        });
        if (over.signal.aborted) return;
        current = undefined;
        try {
          part = await patiently((node) => {
            // Ends the search, and not the caller's wait, when the caller leaves.
            if (over.signal.aborted) throw new GoondanError('E_CANCELLED', 'The watch was ended.');
            return node.watch(filter, listener);
          });
        } catch (error) {
          if (isGone(error) || over.signal.aborted) return;
          throw error;
        }
        if (filter.types === undefined || filter.types.includes('dropped')) listener({ type: 'dropped', count: 0 });
      }
      part.end();
    };
    const left = new Promise<void>((resolve) => {
      over.signal.addEventListener('abort', () => resolve());
    });
    const ended = Promise.race([follow(), left]);
    // Not every caller waits for the end.
    ended.catch(() => undefined);
    return {
      end() {
        over.abort();
        part.end();
      },
      ended,
    };
  }

  let stopped: Promise<void> | undefined;
  return {
    deliver: (delivery) => {
      const named = withId(delivery);
      return patiently((node) => node.deliver(named));
    },
    ask: typedAsk(ask),
    watch: typedWatch(watch),
    cancel: (turn) => again((node) => node.cancel(turn)),
    status: () => again((node) => node.status()),
    instances: () => again((node) => node.instances()),
    deadLetters: (choice) => again((node) => node.deadLetters(choice)),
    questions: () => again((node) => node.questions()),
    answer: (reply) => again((node) => node.answer(reply)),
    grants: () => again((node) => node.grants()),
    revoke: (grant) => again((node) => node.revoke(grant)),
    deleteInstance: (instance) => once((node) => node.deleteInstance(instance)),
    forkInstance: (instance) => once((node) => node.forkInstance(instance)),
    retryDeadLetter: (letter) => once((node) => node.retryDeadLetter(letter)),
    dropDeadLetter: (letter) => once((node) => node.dropDeadLetter(letter)),
    restart: (choice) => once((node) => node.restart(choice)),
    reload: () => once((node) => node.reload()),
    stop: (options) => once((node) => node.stop(options)),
    get stopped() {
      return (stopped ??= watch({ types: ['dropped'] }, () => undefined).then(({ ended }) => ended));
    },
  };
}

function withId(delivery: Delivery): Delivery {
  return { id: randomIds.next('event'), ...delivery };
}

function isGone(error: unknown): boolean {
  return GoondanError.is(error) && goneCodes.includes(error.code);
}

function isStoreAway(error: unknown): boolean {
  return GoondanError.is(error) && error.code === 'E_STORE_AWAY';
}

function noNode(): GoondanError {
  return new GoondanError('E_CONTROL_CLOSED', 'No node of the swarm answers.');
}
