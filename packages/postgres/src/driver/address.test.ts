import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { StoreAddress } from './address.ts';
import { codedError } from './coded-error.ts';
import { openDatabase } from './database.ts';

describe('an address', () => {
  test.each([
    ['postgres://db/gdn', 'postgres://db:5432/gdn', 'prefer'],
    ['postgresql://ann@db.example:6543/gdn?sslmode=require', 'postgres://ann@db.example:6543/gdn', 'require'],
    ['postgres://ann@[::1]:1/gdn', 'postgres://ann@[::1]:1/gdn', 'disable'],
    ['postgres://a:1,b,c:3/gdn?target_session_attrs=read-write', 'postgres://a:1,b:5432,c:3/gdn', 'prefer'],
    ['postgres://ann@/gdn?host=/run/postgresql', 'postgres://ann@/gdn?host=/run/postgresql', 'disable'],
    ['postgres://127.0.0.1/a%20b?prepare=false', 'postgres://127.0.0.1:5432/a%20b', 'disable'],
    ['postgres://db/gdn?sslmode=disable&notify=false', 'postgres://db:5432/gdn', 'disable'],
  ])('%s', (text, shown, tls) => {
    const address = StoreAddress.parse(text);
    expect([String(address), address.tls, address.mayPrepare, address.mayNotify]).toEqual([
      shown,
      tls as never,
      !text.includes('prepare'),
      !text.includes('notify'),
    ]);
  });

  test.each([
    'mysql://db/gdn',
    'postgres://db',
    'postgres://db/',
    'postgres:///gdn',
    'postgres://db/gdn?sslmode=allow',
    'postgres://db/gdn?sslmode=hush',
    'postgres://db/gdn?sslrootcert=/hush.pem',
    'postgres://db/gdn?hush=hush',
    'postgres://db/gdn?notify=hush',
    'postgres://db:0/gdn',
    'postgres://db:99999/gdn',
    'postgres://ann:hush%@db/gdn',
    'postgres://db/gdn?host=/run',
    'ann:hush@db',
  ])('S-06 refuses %s, without a part of it in the error', (text) => {
    let refused: unknown;
    try {
      StoreAddress.parse(text);
    } catch (error) {
      refused = error;
    }
    expect(GoondanError.is(refused) && refused.code).toBe('E_STORE_ADDRESS');
    expect(Bun.inspect(refused).replace('"hush"', '')).not.toContain('hush');
  });
});

describe('S-06 a password', () => {
  const password = 'p@ss/w ö%rd';
  const text = `postgres://ann:${encodeURIComponent(password)}@127.0.0.1:1/gdn`;

  test('is in no text that is made from the address', () => {
    const address = StoreAddress.parse(text);
    expect(address.withPassword((given) => given)).toBe(password);
    const shown = [String(address), JSON.stringify({ address }), Bun.inspect(address), Bun.inspect({ a: [address] })];
    for (const each of [...shown, JSON.stringify(Object.entries(address))]) {
      expect(each).not.toContain(password);
      expect(each).not.toContain(encodeURIComponent(password));
    }
    expect(String(address)).toBe('postgres://ann:***@127.0.0.1:1/gdn');
  });

  test('is in no error, also when the driver writes it', async () => {
    const error = codedError(new Error(`cannot connect to ${text}, ${password}`), StoreAddress.parse(text));
    const database = openDatabase(text, { connections: 1 });
    const refused = await database.query('select 1').catch((each: unknown) => each);
    await database.close();
    expect(GoondanError.is(refused) && refused.code).toBe('E_STORE_AWAY');
    for (const each of [Bun.inspect(error), String(error.cause), Bun.inspect(refused), JSON.stringify(refused)]) {
      expect(each).not.toContain(password);
      expect(each).not.toContain(encodeURIComponent(password));
    }
  });
});
