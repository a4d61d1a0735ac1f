// Archives and uploads letters until it is killed. Prints the number of each one that is accepted.

import { openStorages } from '../../src/features/archive/storage/storage.ts'
import { keepMail } from '../../src/features/archive/store/keep-mail.ts'
import { uploadSpool } from '../../src/features/archive/upload/upload.ts'
import { runChores } from '../../src/jobs/chores.ts'
import { MimeMessage } from '../../src/mime/message.ts'
import { letter, ORGANIZATION, openArchive } from './installation.ts'

const { target, env, first } = JSON.parse(process.argv[2] ?? '{}')
const { core } = await openArchive(target, env)
const storages = openStorages(core)
await runChores(core, [uploadSpool(core, storages, { uploaded: 0, failed: 0 })])
const archive = keepMail(core)
let number = first as number
const lane = async () => {
  for (;;) {
    const own = number++
    await archive.keep({
      organizationId: ORGANIZATION,
      direction: 'inbound',
      sender: 'a@far.test',
      recipients: ['box@bench.test'],
      message: new MimeMessage(letter(own, 3000)),
    })
    process.stdout.write(`${own}\n`)
  }
}
await Promise.all([lane(), lane(), lane()])
