/** What a turn costs on disk as the history grows: time, and bytes written in all files together. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUserMessage } from '@goondan/types';
import { systemClock } from '../packages/runtime/src/ports/clock.ts';
import { systemFs } from '../packages/runtime/src/ports/fs.ts';
import { systemProcesses } from '../packages/runtime/src/ports/processes.ts';
import { openJournal } from '../packages/runtime/src/workspace/journal/journal.ts';
console.log(typeof openJournal, typeof systemFs, typeof systemProcesses, typeof systemClock, typeof createUserMessage, mkdtemp, rm, tmpdir, join);
