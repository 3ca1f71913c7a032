import { expect, test } from 'bun:test';
import type { AgentStart } from '../../config/agent-start.ts';
import { openJournal } from '../../workspace/journal/journal.ts';
import { SimulatedDisk } from '../../workspace/simulation/simulated-disk.ts';
import { simulatedLocation, simulatedMachine } from '../../workspace/simulation/simulated-machine.ts';
import { InstanceJournal } from './instance-journal.ts';
import type { ProcessHost } from './process-host.ts';

const address = { agentName: 'coder', instanceKey: 'default' };

test('D-03 a new conversation is empty without reading the journal, which is read once something was written', async () => {
  let opened = 0;
  const host: Pick<ProcessHost, 'openJournal'> = {
    openJournal: () => {
      opened += 1;
      return openJournal(simulatedMachine(SimulatedDisk.empty(), 1), simulatedLocation);
    },
  };
  const start: Pick<AgentStart, 'address' | 'store' | 'isNew'> = { address, store: simulatedLocation, isNew: true };
  const journal = new InstanceJournal(host as ProcessHost, start as AgentStart, () => undefined);
  const store = journal.store(async () => undefined);
  expect(await store.read(address)).toEqual({ version: 0, stateVersion: 0, messages: [], extensionState: {} });
  expect(opened).toBe(0);
  await store.commitStates(address, 0, { memo: 1 });
  expect(await store.read(address)).toMatchObject({ stateVersion: 1, extensionState: { memo: 1 } });
  expect(opened).toBe(1);
});
