import { useEffect, useState } from 'react';

/** What is recorded of a turn is written a moment after its commit. */
const RECORDED_MS = 700;

/** Another one when the version is, and once more when what is recorded of it is there. */
export function useRecorded(version: string): string {
  const [late, setLate] = useState(version);
  useEffect(() => {
    const timer = setTimeout(() => setLate(version), RECORDED_MS);
    return () => clearTimeout(timer);
  }, [version]);
  return `${version} ${late}`;
}
