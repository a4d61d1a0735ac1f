import type { Stage } from '../content/stage.ts'
import type { Core } from '../core.ts'
import { quarantineService } from '../features/message-trace/quarantine.service.ts'
import { spamStage } from '../features/message-trace/spam.stage.ts'
import { ipRecorder } from '../features/reputation/ip-recorder.ts'
import { pacingStage } from '../features/reputation/optimizer/pacing.stage.ts'
import { dlpStage } from '../features/security/dlp/index.ts'
import { trackingStage } from '../features/tracking/tracking.stage.ts'
import { transportRulesStage } from '../features/transport-rules/index.ts'
import { rspamd } from '../mail/rspamd.ts'

/** What is done with mail that passes, in this order. Each says for which direction it is. */
export const contentStages = (core: Core): readonly Stage[] => [
  spamStage({
    ...core,
    rspamd: rspamd(core.config),
    quarantine: quarantineService(core),
    clients: ipRecorder(core),
  }),
  transportRulesStage(core),
  // Sees what the rules have made of it; what tracking adds is nothing of the sender's.
  dlpStage(core),
  // Last of those that may turn it back: what they refuse does not count.
  pacingStage(core),
  trackingStage(core),
]
