// Runs worker.ts from the sources: inside a thread the loader has to be registered by the thread itself. Not part of a build.
import { register } from 'tsx/esm/api';

register();
await import('./worker.ts');
