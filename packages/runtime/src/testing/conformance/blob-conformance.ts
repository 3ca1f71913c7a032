import type { AgentAddress } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import type { Store } from '../../store/store.ts';
import {
  address,
  checksOf,
  expectEqual,
  expectRefusal,
  type OpenSeams,
  otherAddress,
  type RegisterCheck,
} from './conformance.ts';

/** The bytes of images and files. */
export type BlobSeams = Pick<Store, 'blobs'>;

const third: AgentAddress = { agentName: 'conformance', instanceKey: 'third' };
/** Longer than the pieces in which a store may keep bytes. */
const long = Uint8Array.from({ length: 2_500_000 }, (_, index) => (index * 7) % 251);
const short = new TextEncoder().encode('short bytes');
const AT_ONCE = 8;

/** Checks the promises of `Blobs`. */
export function blobConformance(register: RegisterCheck, open: OpenSeams<BlobSeams>): void {
  const check = checksOf(register, open);
  const same = (bytes: Uint8Array | undefined, expected: Uint8Array) =>
    bytes !== undefined && Buffer.from(bytes).equals(Buffer.from(expected));

  check('stored bytes are durable, and are found by their SHA-256', async ({ blobs }, again) => {
    for (const bytes of [short, long, new Uint8Array()]) {
      expectEqual(await blobs.put(address, bytes), sha256(bytes), 'bytes are stored under their SHA-256');
    }
    const next = (await again()).blobs;
    for (const bytes of [short, long, new Uint8Array()]) {
      const digest = sha256(bytes);
      expectEqual(same(await next.get(digest), bytes), true, 'stored bytes are read unchanged');
      expectEqual(await next.size(digest), bytes.length, 'their size is known');
    }
  });

  check('unknown bytes are not found', async ({ blobs }) => {
    const digest = sha256('unknown');
    expectEqual([await blobs.get(digest), await blobs.size(digest)], [undefined, undefined], 'there are none');
    await expectRefusal(() => blobs.use(address, [digest]), ['E_FILE_UNKNOWN'], 'a use needs stored bytes');
  });

  check('bytes stay while one conversation uses them', async ({ blobs }, again) => {
    const digest = await blobs.put(address, short);
    await blobs.put(otherAddress, short);
    await blobs.use(third, [digest]);
    for (const owner of [address, otherAddress, third]) await blobs.named(owner, [digest]);
    await blobs.release(address);
    await blobs.release(otherAddress);
    const next = (await again()).blobs;
    expectEqual(same(await next.get(digest), short), true, 'one conversation is left');
    await next.release(third);
    expectEqual((await next.get(digest)) === undefined, true, 'bytes go with the last conversation');
  });

  check('an upload keeps bytes until it is released', async ({ blobs }) => {
    const upload = { upload: 'one' };
    const digest = await blobs.put(upload, short);
    expectEqual(same(await blobs.get(digest), short), true, 'an upload is stored');
    await blobs.use(address, [digest]);
    await blobs.release(upload);
    expectEqual(same(await blobs.get(digest), short), true, 'the conversation has taken the bytes');
    const left = await blobs.put({ upload: 'two' }, long);
    await blobs.release({ upload: 'two' });
    expectEqual((await blobs.get(left)) === undefined, true, 'a refused upload leaves nothing');
  });

  check('a fork uses the bytes of its original', async ({ blobs }) => {
    const digest = await blobs.put(address, short);
    await blobs.named(address, [digest]);
    await blobs.share(address, otherAddress);
    await blobs.release(address);
    expectEqual(same(await blobs.get(digest), short), true, 'the fork uses them');
    await blobs.release(otherAddress);
    expectEqual((await blobs.get(digest)) === undefined, true, 'the fork was the last one');
  });

  check('bytes are stored and released at the same time', async ({ blobs }) => {
    const owners = Array.from({ length: AT_ONCE }, (_, index) => ({ agentName: 'many', instanceKey: `${index}` }));
    await blobs.put(address, long);
    await Promise.all([blobs.release(address), ...owners.map((owner) => blobs.put(owner, long))]);
    expectEqual(same(await blobs.get(sha256(long)), long), true, 'no use loses its bytes');
    await Promise.all(owners.slice(1).map((owner) => blobs.release(owner)));
    expectEqual(same(await blobs.get(sha256(long)), long), true, 'one use is left');
  });

  check('bytes that are used again after their release are stored again', async ({ blobs }) => {
    const digest = await blobs.put(address, short);
    await blobs.release(address);
    expectEqual(await blobs.put(address, short), digest, 'the same bytes');
    expectEqual(same(await blobs.get(digest), short), true, 'they are there');
  });

  check('a sweep keeps bytes that a conversation names', async ({ blobs }, again) => {
    const digest = await blobs.put(address, short);
    await blobs.named(address, [digest]);
    const next = (await again()).blobs;
    await next.use(third, [digest]);
    await next.named(third, [digest]);
    await next.release(third);
    expectEqual(same(await next.get(digest), short), true, 'they are in use');
  });
}
