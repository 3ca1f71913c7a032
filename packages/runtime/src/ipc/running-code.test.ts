// Tests both ends of the file in which a process notes the code that runs, in one process.
import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCodeFile, noteRunningCode, readBlockedCode } from './running-code.ts';

const root = mkdtempSync(join(tmpdir(), 'running-code-'));
afterAll(() => rmSync(root, { recursive: true }));

function open() {
  const folder = join(root, crypto.randomUUID());
  makeCodeFile(folder);
  return { folder, file: join(folder, 'running-code'), running: noteRunningCode(folder) };
}

const PAGE = 4_096;

describe('the code that runs in a process', () => {
  test('can be read by its owner, in words, and with the seat of its conversation', () => {
    const { folder, file, running } = open();
    expect([folder, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    const mark = running(7).marker('in the step layer of extension notes (notes.ts)');
    expect(readBlockedCode(folder)).toBeUndefined();
    mark();
    const words = 'blocked in the step layer of extension notes (notes.ts)';
    expect(readBlockedCode(folder)).toEqual({ words, conversation: 7 });
    running(7).wait();
    expect(readBlockedCode(folder)).toBeUndefined();
  });

  test('is that which was entered, until it is left; of calls at the same time, all that wait are named', () => {
    const { folder, running } = open();
    const code = running();
    const words = () => readBlockedCode(folder)?.words;
    const layer = code.marker('in the toolCall layer of extension guard (guard.ts)');
    const leave = code.enter('in tool a__run (a.ts)');
    expect(words()).toBe('blocked in tool a__run (a.ts)');
    layer();
    expect(words()).toBe('blocked in the toolCall layer of extension guard (guard.ts)');
    code.wait();
    expect(words()).toBe('blocked in tool a__run (a.ts)');
    leave();
    const [leaveA, leaveB] = [code.enter('in tool a__run (a.ts)'), code.enter('in tool b__run (b.ts)')];
    expect(words()).toBe('blocked in tool b__run (b.ts)');
    code.wait();
    expect(words()).toBe('blocked in tool a__run (a.ts) or in tool b__run (b.ts)');
    const leaveTwin = code.enter('in tool b__run (b.ts)');
    leaveA();
    expect(words()).toBe('blocked in tool b__run (b.ts)');
    leaveTwin();
    leaveB();
    expect(words()).toBeUndefined();
  });

  test('has no name while the code of several conversations waits', () => {
    const { folder, running } = open();
    running(1).enter('in tool a__run (a.ts)');
    running(1).wait();
    expect(readBlockedCode(folder)?.conversation).toBe(1);
    const leave = running(2).enter('in tool a__run (a.ts)');
    expect(readBlockedCode(folder)?.conversation).toBe(2);
    running(2).wait();
    expect(readBlockedCode(folder)).toBeUndefined();
    leave();
    expect(readBlockedCode(folder)?.conversation).toBe(1);
  });

  test('takes one line of bounded length in the file, whatever its name', () => {
    const { folder, file, running } = open();
    running().marker('in tool a\n\nb')();
    expect(readBlockedCode(folder)?.words).toBe('blocked in tool a b');
    for (let index = 2; index < 512; index++) running().marker(`in tool ${index}-${'x'.repeat(2_000)}`)();
    expect(statSync(file).size).toBeLessThan(PAGE + 512 * 301);
    expect(readBlockedCode(folder)?.words).toStartWith('blocked in tool 511-xxx');
  });

  test('has no name when the file is full, or missing, or cannot be mapped', () => {
    const { folder, file, running } = open();
    const mark = (name: string) => running().marker(`in tool ${name}`)();
    for (let index = 1; index < 600; index++) mark(`tool-${index}`);
    expect(readBlockedCode(folder)).toBeUndefined();
    const { size } = statSync(file);
    mark('tool-600');
    expect(statSync(file).size).toBe(size);
    mark('tool-511');
    expect(readBlockedCode(folder)?.words).toBe('blocked in tool tool-511');

    const gone = open();
    rmSync(gone.folder, { recursive: true });
    gone.running().marker('in tool a')();
    expect(readBlockedCode(gone.folder)).toBeUndefined();
    noteRunningCode(join(root, 'never made'))().enter('in tool a')();
    noteRunningCode()().enter('in tool a')();
    makeCodeFile('/dev/null/no-folder');
  });
});

describe('a file that bundle code has written', () => {
  const numberOf = (number: number) => new Uint8Array(new Float64Array([number]).buffer);

  function forge(number: number, text: string): string {
    const { folder, file } = open();
    const page = new Uint8Array(PAGE);
    page.set(numberOf(number));
    writeFileSync(file, page);
    appendFileSync(file, text);
    return folder;
  }

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 0.5, 1.5, 2, 2 ** 60, 511])('has no code at %p', (number) => {
    expect(readBlockedCode(forge(number, 'in tool a\n'))).toBeUndefined();
  });

  test('shows no control character, and no text without end', () => {
    const escape = `in tool \u001b[31m\u0007\u202eevil\u0000 ${'x'.repeat(1_000)}\n`;
    const { words } = readBlockedCode(forge(1, escape)) ?? { words: '' };
    expect(words).toHaveLength('blocked '.length + 300);
    expect(words).toStartWith('blocked in tool \ufffd[31m\ufffd\ufffdevil\ufffd xxx');
    expect(readBlockedCode(forge(1, 'x'.repeat(1_000_000)))).toBeUndefined();
  });

  test('is not read through a link', () => {
    const linked = open();
    const real = open();
    real.running().marker('in tool a')();
    rmSync(linked.file);
    symlinkSync(real.file, linked.file);
    expect(readBlockedCode(linked.folder)).toBeUndefined();
  });
});
