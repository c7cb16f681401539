// Entry of the runtime process, of the probe, and of the runtime's prompt thread: one file, so that there is one to find.
import { hostPort } from './port';
import { servePrompts } from './prompt-thread';
import { startService } from './service';

if (!servePrompts()) startService(hostPort(), new URL(import.meta.url));
