/** Stores that each break one promise. A conformance suite that does not notice one of them is too weak. */
import { address, otherAddress } from './conformance.ts';
import { memoryPlacement, type MemorySwarm } from './memory-seams.ts';
import type { QuestionSeams } from './question-conformance.ts';
import type { BlobSeams } from './blob-conformance.ts';
import type { InboxSeams } from './inbox-conformance.ts';
import type { PlacementSeams } from './placement-conformance.ts';
import type { ConversationSeams } from './store-conformance.ts';
import type { Store } from '../../store/store.ts';

export type BrokenSeams = ConversationSeams &
  InboxSeams &
  PlacementSeams &
  QuestionSeams &
  BlobSeams &
  Pick<Store, 'conversations'>;

interface BrokenStore {
  readonly suite: 'store' | 'inbox' | 'placement' | 'question' | 'blobs';
  readonly name: string;
  readonly break: (seams: BrokenSeams, swarm: MemorySwarm) => BrokenSeams;
}

export const brokenStores: readonly BrokenStore[] = [
  blobs('bytes go with the first conversation that is released', (kept) => ({
    release: async (owner) => {
      const other = { upload: 'broken' };
      await kept.share(address, otherAddress);
      await Promise.all([kept.release(owner), kept.release(address), kept.release(otherAddress), kept.release(other)]);
    },
  })),
  blobs('nothing is ever removed', () => ({ release: async () => undefined })),
  blobs('a use of unknown bytes is accepted', () => ({ use: async () => undefined })),
  blobs('a fork uses nothing', () => ({ share: async () => undefined })),
  blobs('long bytes are cut', (kept) => ({ get: async (digest) => (await kept.get(digest))?.subarray(0, 1_000_000) })),
  blobs('bytes are stored under another digest', (kept) => ({
    put: async (owner, bytes) => (await kept.put(owner, bytes)).replace(/^./, 'f'),
  })),
  conversations('an append is lost', () => ({ append: async () => undefined })),
  conversations('the last record of an append is lost', (kept) => ({
    append: (at, epoch, index, records) => kept.append(at, epoch, index, records.slice(0, -1)),
  })),
  conversations('records of one append are reversed', (kept) => ({
    append: (at, epoch, index, records) => kept.append(at, epoch, index, records.toReversed()),
  })),
  conversations('the epoch is not raised', (kept) => {
    const current = new Map<string, number>();
    const newest = (at: object) => current.get(JSON.stringify(at)) ?? 0;
    return {
      async open(at, turnId) {
        const opened = await kept.open(at, turnId);
        current.set(JSON.stringify(at), opened.epoch);
        return { ...opened, epoch: 1 };
      },
      append: (at, _epoch, ...rest) => kept.append(at, newest(at), ...rest),
      commit: (at, _epoch, ...rest) => kept.commit(at, newest(at), ...rest),
    };
  }),
  conversations('an older writer may append', (kept) => {
    const { open, newest } = rememberEpoch(kept);
    return { open, append: (at, _epoch, ...rest) => kept.append(at, newest(), ...rest) };
  }),
  conversations('an older writer may commit', (kept) => {
    const { open, newest } = rememberEpoch(kept);
    return { open, commit: (at, _epoch, ...rest) => kept.commit(at, newest(), ...rest) };
  }),
  conversations('states are lost at a commit', (kept) => ({
    commit: (at, epoch, turnId, delta, _states, result) => kept.commit(at, epoch, turnId, delta, {}, result),
  })),
  conversations('the result of a committed turn is lost', (kept) => ({
    async open(at, turnId) {
      const { finished: _, ...opened } = await kept.open(at, turnId);
      return opened;
    },
  })),
  conversations('a rewrite appends', (kept) => ({
    commit: (at, epoch, turnId, { messages }, ...rest) =>
      kept.commit(at, epoch, turnId, { type: 'append', messages }, ...rest),
  })),
  conversations('states of an older version are committed', (kept) => ({
    commitStates: async (at, _version, states) => kept.commitStates(at, (await kept.read(at)).stateVersion, states),
  })),
  conversations('all instances share one conversation', (store) => {
    const only = { agentName: 'conformance', instanceKey: 'default' };
    return {
      open: (_, turnId) => store.open(only, turnId),
      append: (_, ...rest) => store.append(only, ...rest),
      commit: (_, ...rest) => store.commit(only, ...rest),
      read: () => store.read(only),
    };
  }),
  {
    suite: 'store',
    name: 'an answer is lost',
    break: (seams) => ({ ...seams, answers: { ...seams.answers, left: async () => [] } }),
  },
  {
    suite: 'store',
    name: 'an acknowledged answer stays',
    break: (seams) => ({ ...seams, answers: { ...seams.answers, acknowledge: async () => undefined } }),
  },
  {
    suite: 'store',
    name: 'a commit does not end its input',
    break: (seams, swarm) => ({
      ...seams,
      conversations: { ...seams.conversations, commit: (...turn) => swarm.conversations.commit(...turn) },
    }),
  },
  inbox('an accepted event is lost', () => ({
    accept: async () => ({ accepted: true, duplicate: false, seq: 1 }),
  })),
  inbox('a duplicate is accepted twice', (kept, swarm) => ({
    accept(at, event) {
      swarm.inputOf(at).known.clear();
      return kept.accept(at, event);
    },
  })),
  inbox('a handled event is accepted again', (kept, swarm) => ({
    accept(at, event) {
      const { known, pending } = swarm.inputOf(at);
      if (pending.length === 0) known.clear();
      return kept.accept(at, event);
    },
  })),
  inbox('a cancel mark is lost', () => ({ cancel: async () => true })),
  inbox('an unknown event is cancelled', (kept) => ({
    async cancel(...mark) {
      await kept.cancel(...mark);
      return true;
    },
  })),
  inbox('pending events are out of order', (kept) => ({
    pendingEntries: async (at) => (await kept.pendingEntries(at)).toReversed(),
  })),
  inbox('numbers begin again after a commit', (kept, swarm) => ({
    accept(at, event) {
      const input = swarm.inputOf(at);
      if (input.pending.length === 0) input.last = 0;
      return kept.accept(at, event);
    },
  })),
  inbox('dates become texts', (kept) => ({
    pendingEntries: async (at) => JSON.parse(JSON.stringify(await kept.pendingEntries(at))),
  })),
  placement('a second claim is accepted', (placed) => ({ ...placed, claim: async () => true })),
  placement('an own claim is refused the second time', (placed, swarm) => ({
    ...placed,
    async claim(at) {
      const isClaimed = swarm.owners.size > 0;
      return (await placed.claim(at)) && !isClaimed;
    },
  })),
  placement('a release is forgotten', (placed) => ({ ...placed, release: async () => undefined })),
  placement('a release frees an instance of another node', (placed, swarm) => ({
    ...placed,
    release: async () => swarm.owners.clear(),
  })),
  placement('a node that left stays in the list', (placed, swarm) => ({
    ...placed,
    async leave() {
      await placed.leave();
      swarm.nodes.set(placed.node, new Date());
    },
  })),
  placement('a lost node is not refused', (placed) => ({ ...placed, check: () => undefined })),
  placement('a loss is not told', (placed) => ({ ...placed, onLost: () => undefined })),
  questions('an approval is answered twice', (kept) => ({
    async answer(record) {
      await kept.put(record);
      return true;
    },
  })),
  questions('a refused answer replaces the first one', (kept) => ({
    async answer(record) {
      const isFirst = await kept.answer(record);
      if (!isFirst) await kept.put(record);
      return isFirst;
    },
  })),
  questions('an answer brings a removed request back', (kept, swarm) => ({
    async answer(record) {
      if (!swarm.questions.has(record.id)) await kept.put(record);
      return kept.answer(record);
    },
  })),
  questions('an answer is not stored', () => ({ answer: async () => true })),
  questions('a request is lost', () => ({ put: async () => undefined })),
  questions('a removed request stays', () => ({ remove: async () => undefined })),
  questions('an answered request loses its place', (kept, swarm) => ({
    async answer(record) {
      const isFirst = await kept.answer(record);
      if (isFirst) swarm.questions.delete(record.id);
      if (isFirst) await kept.put(record);
      return isFirst;
    },
  })),
  questions('changes are not told', () => ({ onChange: () => () => undefined })),
  questions('a removal is told before it is stored', (kept, swarm) => ({
    async remove(id) {
      for (const listener of swarm.questionListeners) listener(id);
      await Promise.resolve();
      const listeners = [...swarm.questionListeners];
      swarm.questionListeners.clear();
      await kept.remove(id);
      for (const listener of listeners) swarm.questionListeners.add(listener);
    },
  })),
];

type Conversations = BrokenSeams['conversations'];
type Inbox = BrokenSeams['inbox'];
type Placed = ReturnType<typeof memoryPlacement>;
type Questions = BrokenSeams['questions'];

function blobs(name: string, change: (kept: Store['blobs']) => Partial<Store['blobs']>): BrokenStore {
  return { suite: 'blobs', name, break: (seams) => ({ ...seams, blobs: { ...seams.blobs, ...change(seams.blobs) } }) };
}

function conversations(name: string, change: (store: Conversations) => Partial<Conversations>): BrokenStore {
  return {
    suite: 'store',
    name,
    break: (seams) => ({ ...seams, conversations: { ...seams.conversations, ...change(seams.conversations) } }),
  };
}

/** Remembers the epoch of the writer that opened a turn last. */
function rememberEpoch(kept: Conversations): Pick<Conversations, 'open'> & { readonly newest: () => number } {
  let epoch = 0;
  return {
    async open(at, turnId) {
      const opened = await kept.open(at, turnId);
      ({ epoch } = opened);
      return opened;
    },
    newest: () => epoch,
  };
}

function inbox(name: string, change: (inbox: Inbox, swarm: MemorySwarm) => Partial<Inbox>): BrokenStore {
  return {
    suite: 'inbox',
    name,
    break: (seams, swarm) => ({ ...seams, inbox: { ...seams.inbox, ...change(seams.inbox, swarm) } }),
  };
}

function placement(name: string, change: (placed: Placed, swarm: MemorySwarm) => Placed): BrokenStore {
  return {
    suite: 'placement',
    name,
    break: (seams, swarm) => ({ ...seams, join: async (node) => change(memoryPlacement(swarm, node), swarm) }),
  };
}

function questions(
  name: string,
  change: (questions: Questions, swarm: MemorySwarm) => Partial<Questions>,
): BrokenStore {
  return {
    suite: 'question',
    name,
    break: (seams, swarm) => {
      const broken = { ...seams.questions, ...change(seams.questions, swarm) };
      return { ...seams, questions: broken, elsewhere: async () => broken };
    },
  };
}
