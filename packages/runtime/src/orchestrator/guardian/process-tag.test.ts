import { describe, expect, test } from 'bun:test';
import { carriesTag, checkTag, tagEntry, tagsOf, newTag } from './process-tag.ts';

const tag = newTag('GOONDAN_RUN');
const environment = (...entries: string[]) => Buffer.from(entries.map((entry) => `${entry}\0`).join(''));

describe('a tag', () => {
  test('is an entry of an environment, new each time', () => {
    const [[name, value] = []] = Object.entries(tagEntry(tag));
    expect(`${name}=${value}`).toBe(tag);
    expect(name).toBe('GOONDAN_RUN');
    expect(newTag('GOONDAN_RUN')).not.toBe(tag);
  });

  test('is found among all entries of an environment', () => {
    const child = newTag('GOONDAN_CHILD');
    const found = tagsOf(environment('PATH=/bin', child, 'GOONDAN_RUN=1', `X${tag}`, tag, `Y=${tag}`));
    expect(found).toEqual([child, tag]);
    expect(tagsOf(environment('PATH=/bin'))).toEqual([]);
    expect(tagsOf(new Uint8Array())).toEqual([]);
  });

  test('rejects other texts', () => {
    const others = [
      '',
      '=',
      'PATH=/bin',
      'GOONDAN_RUN=',
      'GOONDAN_RUN=1',
      `X${tag}`,
      `${tag}\0`,
      `${tag} `,
      tag.slice(0, -1),
    ];
    for (const other of others) expect(() => checkTag(other)).toThrow('is not a tag of a run');
    expect(checkTag(tag)).toBe(tag);
  });

  test('is carried by an environment with exactly this entry', () => {
    expect(carriesTag(environment(tag), tag)).toBe(true);
    expect(carriesTag(environment('A=1', tag, 'B=2'), tag)).toBe(true);
    expect(carriesTag(environment(`X=${tag}`, tag), tag)).toBe(true);
    // The system may leave out the last NUL.
    expect(carriesTag(environment('A=1', tag).subarray(0, -1), tag)).toBe(true);
  });

  test('is not carried by a similar entry', () => {
    const alike = [
      `X=${tag}`,
      `X${tag}`,
      `${tag}1`,
      `${tag}=`,
      tag.slice(0, -1),
      newTag('GOONDAN_RUN'),
      tag.replace('RUN', 'CHILD'),
    ];
    expect(carriesTag(environment(...alike), tag)).toBe(false);
    expect(carriesTag(environment(), tag)).toBe(false);
  });
});
