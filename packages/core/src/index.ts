export * from '@goondan/types';
