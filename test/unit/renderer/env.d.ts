/// <reference types="vite/client" />
import '../../../renderer/env';
