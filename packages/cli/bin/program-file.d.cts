export function mainFile(): string;
export function programFile(source: 'main' | 'run/detached-main'): string;
