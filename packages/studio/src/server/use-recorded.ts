import { useEffect, useState } from 'react';

/** How long to wait after a commit until the trace of the turn has been written. */
const RECORDED_MS = 700;

/**
 * Returns a text that changes when `version` changes, and once more `RECORDED_MS` later, when the trace has been
 * written.
 */
export function useRecorded(version: string): string {
  const [late, setLate] = useState(version);
  useEffect(() => {
    const timer = setTimeout(() => setLate(version), RECORDED_MS);
    return () => clearTimeout(timer);
  }, [version]);
  return `${version} ${late}`;
}
