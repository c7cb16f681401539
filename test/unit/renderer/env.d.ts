/// <reference types="vite/client" />
/// <reference path="../../../renderer/env.d.ts" />
