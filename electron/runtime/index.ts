// Entry of the runtime process, of the probe, and of the runtime's threads: one file, so that there is one to find.
import { serveConstraints } from './constraint-thread';
import { hostPort } from './port';
import { servePrompts } from './prompt-thread';
import { startService } from './service';

if (!servePrompts() && !serveConstraints()) startService(hostPort(), new URL(import.meta.url));
