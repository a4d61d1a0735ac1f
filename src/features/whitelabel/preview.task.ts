import { previewOf } from './preview.ts'

/** Sanitizes stored markup: runs in a worker thread. */
export default previewOf
