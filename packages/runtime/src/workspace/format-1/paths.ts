/** The files of format 1 that format 2 does not have. */
import type { StoredInstance } from '../layout/instance-paths.ts';

type Place = Pick<StoredInstance, 'paths'>;

export const archivePath = ({ paths }: Place) => `${paths.messages}/archive.jsonl`;
export const turnPath = ({ paths }: Place) => `${paths.messages}/turn.jsonl`;
export const outboxPath = ({ paths }: Place) => `${paths.folder}/outbox.jsonl`;
export const deadLettersPath = ({ paths }: Place) => `${paths.folder}/deadletter.jsonl`;
