import { expect, test } from 'bun:test';
import { failingFs, systemError } from '../workspace/simulation/failing-fs.ts';
import { SimulatedDisk } from '../workspace/simulation/simulated-disk.ts';
import { codedFs } from './coded-fs.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';

function broken(code: string) {
  return codedFs(
    failingFs(SimulatedDisk.empty(), () => {
      throw systemError(code);
    }),
  );
}

test('an unreadable file is an error with a code and the path, not a missing file', async () => {
  for (const code of ['EIO', 'EACCES', 'EMFILE']) {
    expect(await rejectionOf(broken(code).read('/a/b'))).toMatchObject({
      code: 'E_STORE_READ',
      message: expect.stringContaining('/a/b'),
    });
    expect(await rejectionOf(broken(code).stat('/a/b'))).toMatchObject({ code: 'E_STORE_READ' });
    expect(await rejectionOf(broken(code).list('/a/b'))).toMatchObject({ code: 'E_STORE_READ' });
  }
});

test('a full disk has its own code', async () => {
  for (const code of ['ENOSPC', 'EDQUOT']) {
    expect(await rejectionOf(broken(code).createNew('/a', new Uint8Array()))).toMatchObject({ code: 'E_DISK_FULL' });
  }
  expect(await rejectionOf(broken('EROFS').rename('/a', '/b'))).toMatchObject({ code: 'E_STORE_WRITE' });
});

test('the cause is kept', async () => {
  const error = await broken('EIO')
    .openFile('/a')
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'E_STORE_WRITE', cause: { code: 'EIO' } });
});

test('a room that writes without a promise has errors with a code, too', async () => {
  const disk = SimulatedDisk.empty();
  const fail = () => {
    throw systemError('ENOSPC');
  };
  const openRoom = async (path: string) => ({ ...(await disk.openRoom(path)), write: fail, writeThrough: fail });
  const room = await codedFs({ ...failingFs(disk, () => undefined), openRoom }).openRoom('/room');
  expect(() => room.write(0, new Uint8Array(1))).toThrow(expect.objectContaining({ code: 'E_DISK_FULL' }));
  expect(() => room.writeThrough(0, new Uint8Array(1))).toThrow(expect.objectContaining({ code: 'E_DISK_FULL' }));
});
