import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { fileBlobs } from '../../store/files/file-blobs.ts';
import type { Counters } from '../../store/counters.ts';
import { fileCounters } from '../../store/files/file-counters.ts';
import { joinFiles } from '../../store/files/file-placement.ts';
import { answersOf, inboxOf } from '../../store/files/journal-seams.ts';
import { memoryBlobs } from '../../store/memory-blobs.ts';
import { QuestionFile } from '../../workspace/questions/question-file.ts';
import { CounterFile } from '../../workspace/counters/counter-file.ts';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import { makeFolders } from '../../workspace/layout/make-folders.ts';
import { blobConformance } from './blob-conformance.ts';
import { questionConformance } from './question-conformance.ts';
import { counterConformance, type CounterSeams } from './counter-conformance.ts';
import { address, type OpenedSeams, type OpenSeams, otherAddress, type RegisterCheck } from './conformance.ts';
import { inboxConformance } from './inbox-conformance.ts';
import {
  memoryAnswers,
  memoryQuestions,
  memoryConversations,
  memoryCounters,
  memoryInbox,
  memoryPlacement,
  MemorySwarm,
} from './memory-seams.ts';
import { brokenCounters } from './broken-counters.ts';
import { type BrokenSeams, brokenStores } from './broken-stores.ts';
import { placementConformance } from './placement-conformance.ts';
import { storeConformance } from './store-conformance.ts';

describe('a store in files conforms', () => {
  describe('conversations', () => storeConformance(test, openFiles(openJournal)));
  describe('inbox', () => inboxConformance(test, openFiles(openJournal)));
  describe('placement', () => placementConformance(test, openFiles(openPlacement)));
  describe('Y-02 blobs', () => blobConformance(test, openFiles(openBlobs)));
  describe('questions', () => questionConformance(test, openFiles(openQuestionFile)));
  describe('counters', () => counterConformance(test, openFiles(openCounters)));
});

describe('a store in memory conforms', () => {
  describe('counters', () =>
    counterConformance(
      test,
      openMemoryCounters((seams) => seams),
    ));
});

describe('a broken store does not conform', () => {
  test.each(brokenStores)('$suite: $name', async ({ suite, break: breakSeams }) => {
    const open = async () => {
      const swarm = new MemorySwarm();
      const seams = breakSeams(seamsOf(swarm), swarm);
      return { seams, again: async () => seams, end: async () => undefined };
    };
    expect(await failuresOf((register) => suites[suite](register, open))).not.toEqual([]);
  });
  test.each(brokenCounters)('counters: $name', async ({ break: breakCounters }) => {
    const open = openMemoryCounters(breakCounters);
    expect(await failuresOf((register) => counterConformance(register, open))).not.toEqual([]);
  });
});

const suites = {
  store: storeConformance,
  inbox: inboxConformance,
  placement: placementConformance,
  blobs: blobConformance,
  question: (register: RegisterCheck, open: OpenSeams<BrokenSeams>) =>
    questionConformance(register, open, { patienceMs: 0 }),
};

function seamsOf(swarm: MemorySwarm): BrokenSeams {
  return {
    conversations: memoryConversations(swarm),
    inbox: memoryInbox(swarm, 'one'),
    answers: memoryAnswers(swarm),
    questions: memoryQuestions(swarm),
    blobs: memoryBlobs(),
    elsewhere: async () => memoryQuestions(swarm),
    join: async (name) => memoryPlacement(swarm, name),
    takeAway: async ({ node }) => void swarm.nodes.delete(node),
  };
}

/** Runs the checks of a suite. Returns the names of those that fail. */
async function failuresOf(suite: (register: RegisterCheck) => void): Promise<readonly string[]> {
  const checks: { readonly name: string; readonly check: () => Promise<void> }[] = [];
  suite((name, check) => void checks.push({ name, check }));
  const failed: string[] = [];
  for (const { name, check } of checks) await check().catch(() => failed.push(name));
  return failed;
}

interface Location {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

interface Closable<Seams> {
  readonly seams: Seams;
  close(): Promise<void>;
}

/** Opens seams over the files of a new state root. */
function openFiles<Seams>(open: (at: Location) => Promise<Closable<Seams>>): OpenSeams<Seams> {
  return async (): Promise<OpenedSeams<Seams>> => {
    const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-conformance-'));
    const location = { stateRoot, workspaceId: 'test' };
    await makeFolders(systemFs, stateRoot, workspaceFolder(stateRoot, 'test'));
    let opened = await open(location);
    return {
      seams: opened.seams,
      async again() {
        await opened.close();
        opened = await open(location);
        return opened.seams;
      },
      async end() {
        await opened.close();
        rmSync(stateRoot, { recursive: true });
      },
    };
  };
}

const warn = () => undefined;

async function openJournal(at: Location) {
  const journal = await durableStore({ ...at, warn });
  const seams = { conversations: journal, inbox: inboxOf(journal), answers: answersOf(journal) };
  return { seams, close: () => journal.close() };
}

async function openBlobs(at: Location) {
  return { seams: { blobs: fileBlobs(at) }, close: async () => undefined };
}

async function openQuestionFile(at: Location) {
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn };
  const questions = await QuestionFile.open(ports, at);
  return { seams: { questions }, close: () => questions.close() };
}

async function openCounters(at: Location) {
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn };
  const { file, states } = await CounterFile.open(ports, at);
  const placement = { check: () => undefined };
  const counters = fileCounters({ clock: systemClock, placement, file, states, warn });
  return { seams: { counters }, close: () => file.close() };
}

/** Opens counters at two nodes of a swarm in memory. `again` is another node, after the first one has left. */
function openMemoryCounters(change: (counters: Counters, swarm: MemorySwarm) => Counters): OpenSeams<CounterSeams> {
  return async () => {
    const swarm = new MemorySwarm();
    const joinAs = async (node: string, owned: typeof address) => {
      await memoryPlacement(swarm, node).claim(owned);
      return change(memoryCounters(swarm, node), swarm);
    };
    const elsewhere = () => joinAs('two', otherAddress);
    return {
      seams: { counters: await joinAs('one', address), elsewhere },
      async again() {
        swarm.nodes.delete('one');
        return { counters: await joinAs('three', address), elsewhere };
      },
      end: async () => undefined,
    };
  };
}

async function openPlacement(at: Location) {
  const joined: Awaited<ReturnType<typeof joinFiles>>[] = [];
  const seams = {
    async join(runTag: string) {
      const placement = await joinFiles(at, { swarm: 'test', runTag });
      joined.push(placement);
      return placement;
    },
    takeAway: async () => rmSync(workspaceFolder(at.stateRoot, at.workspaceId), { recursive: true }),
  };
  return { seams, close: async () => void (await Promise.allSettled(joined.map((each) => each.leave()))) };
}
