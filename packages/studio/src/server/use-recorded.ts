import { useEffect, useState } from 'react';

/** The trace of a turn is written a moment after its commit. */
const RECORDED_MS = 700;

/** Changes with the version, and once more when the trace has been written. */
export function useRecorded(version: string): string {
  const [late, setLate] = useState(version);
  useEffect(() => {
    const timer = setTimeout(() => setLate(version), RECORDED_MS);
    return () => clearTimeout(timer);
  }, [version]);
  return `${version} ${late}`;
}
