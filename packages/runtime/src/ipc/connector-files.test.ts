import { expect, test } from 'bun:test';
import type { ContentPart } from '@goondan/types';
import { sha256 } from '../json/sha256.ts';
import { memoryBlobs } from '../store/memory-blobs.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { FileUploads, storeUploads, type UploadStore } from './connector-files.ts';
import { connectorLanguage } from './codec.ts';

const fileOf = (text: string): ContentPart => ({ type: 'file', data: btoa(text), mediaType: 'text/plain' });
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

function connect(store: UploadStore) {
  const [parent, child] = connectInMemory(connectorLanguage);
  const held = storeUploads(parent, store, () => 1_000);
  return { parent, child, held, uploads: new FileUploads(child) };
}

test('Y-02 a connector cannot release the files of another one', async () => {
  const blobs = memoryBlobs();
  const [mine, other] = [connect(blobs), connect(blobs)];
  const ids: string[] = [];
  mine.parent.onMessage((message) => void (message.type === 'file.put' && ids.push(message.upload)));
  await mine.uploads.upload([fileOf('cat')]);
  const data = btoa('dog');
  await other.child.send({ type: 'file.put', callId: 'x', upload: ids[0] ?? '', data, size: 3, isLast: true });
  await settle();
  await other.child.send({ type: 'file.release', uploads: ids });
  await settle();
  expect([await blobs.size(sha256('cat')), await blobs.size(sha256('dog'))]).toEqual([3, undefined]);
  expect([mine.held.has(sha256('cat')), other.held.has(sha256('cat'))]).toEqual([true, false]);
});

test('Y-02 the uploads of a connector that exits are released', async () => {
  const blobs = memoryBlobs();
  const { parent, uploads } = connect(blobs);
  await uploads.upload([fileOf('cat')]);
  expect(await blobs.size(sha256('cat'))).toBe(3);
  parent.close();
  await settle();
  expect(await blobs.size(sha256('cat'))).toBeUndefined();
});

test('Y-02 an upload that is stored after its connector has exited is released', async () => {
  const blobs = memoryBlobs();
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: UploadStore = {
    ...blobs,
    async put(owner, bytes) {
      asked.resolve();
      await gate.promise;
      return blobs.put(owner, bytes);
    },
  };
  const { parent, uploads } = connect(slow);
  const uploaded = uploads.upload([fileOf('cat')]).catch(() => undefined);
  await asked.promise;
  parent.close();
  gate.resolve();
  await uploaded;
  await settle();
  expect(await blobs.size(sha256('cat'))).toBeUndefined();
});

test('Y-02 a connector has a limited number of uploads whose events are not accepted', async () => {
  const { uploads } = connect({ put: async () => 'digest', release: async () => undefined });
  for (let upload = 0; upload < 1_000; upload += 1) await uploads.upload([fileOf('cat')]);
  expect(uploads.upload([fileOf('cat')])).rejects.toMatchObject({ code: 'E_IPC_FULL' });
});
