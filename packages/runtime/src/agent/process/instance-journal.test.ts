import { expect, test } from 'bun:test';
import type { AgentStart } from '../../config/agent-start.ts';
import { agentStoreOf } from '../../store/files/open-agent-store.ts';
import { memoryBlobs } from '../../store/memory-blobs.ts';
import { openJournal } from '../../workspace/journal/journal.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import { SimulatedDisk } from '../../workspace/simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../../workspace/simulation/simulated-machine.ts';
import { InstanceJournal } from './instance-journal.ts';
import type { ProcessHost } from './process-host.ts';

const address = { agentName: 'coder', instanceKey: 'default' };

function openInstanceJournal(openDisk: ProcessHost['openStore']) {
  const host: Pick<ProcessHost, 'openStore'> = { openStore: openDisk };
  const start: Pick<AgentStart, 'address' | 'store' | 'isNew'> = { address, store: simulatedLocation, isNew: true };
  // The casts are safe: an instance journal uses only these members.
  return new InstanceJournal(host as ProcessHost, start as AgentStart, () => undefined);
}

const openSimulated = async () =>
  agentStoreOf(await openJournal(simulatedMachine(SimulatedDisk.empty(), 1), simulatedLocation), memoryBlobs());

test('a new conversation is empty without reading the journal, which is read once something was written', async () => {
  let opened = 0;
  const journal = openInstanceJournal(() => {
    opened += 1;
    return openSimulated();
  });
  const store = journal.store(async () => undefined);
  expect(await store.read(address)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
  expect(opened).toBe(0);
  await store.commitStates(address, 0, { memo: 1 });
  expect(await store.read(address)).toMatchObject({ stateVersion: 1, extensionState: { memo: 1 } });
  expect(opened).toBe(1);
});

test.each(['a turn', 'states'] as const)(
  '%s: nothing is written before the replies of an earlier process are read',
  async (what) => {
    const order: string[] = [];
    const journal = openInstanceJournal(() => {
      order.push('opened');
      return openSimulated();
    });
    const store = journal.store(async () => {
      await Bun.sleep(1);
      order.push('read');
    });
    await (what === 'a turn' ? store.open(address, 'turn-a') : store.commitStates(address, 0, { memo: 1 }));
    expect(order).toEqual(['read', 'opened']);
  },
);

test('a closed conversation is not opened again, because a shared store may have it open for another seat', async () => {
  const journal = openInstanceJournal(openSimulated);
  const store = journal.store(async () => undefined);
  await store.commitStates(address, 0, { memo: 1 });
  await journal.close();
  expect(await rejectionOf(store.commitStates(address, 1, { memo: 2 }))).toMatchObject({ code: 'E_STORE_ORDER' });
});

test('a conversation whose store could not be opened is closed without another error', async () => {
  const broken = new Error('the disk is busy');
  const journal = openInstanceJournal(() => Promise.reject(broken));
  expect(await rejectionOf(journal.open())).toBe(broken);
  await journal.close();
});
