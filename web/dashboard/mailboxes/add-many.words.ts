import { number } from '../../lib/format.ts'

const en = {
  title: 'Add many mailboxes',
  lines: 'One mailbox in each line',
  hint: 'address, name, password: jane@acme.example, Jane Doe. Without a password one is made. Paste from a spreadsheet or choose a CSV file.',
  file: 'CSV file',
  preview: (count: number) => `${number(count)} mailboxes`,
  badLine: (line: number) => `Line ${line} does not start with an address`,
  tooMany: (limit: number) => `At most ${number(limit)} mailboxes at a time`,
  submit: 'Add mailboxes',
  progress: (done: number, total: number) => `${number(done)} of ${number(total)}`,
  progressLabel: 'Progress',
  doneTitle: 'Mailboxes added',
  added: (count: number) => `${number(count)} mailboxes were added.`,
  passwords: 'Addresses and passwords',
  passwordsHint: 'Give each person their own. They are shown only now.',
  failed: (count: number) => `${number(count)} were not added:`,
  address: 'Address',
  why: 'Why',
}

const de: typeof en = {
  title: 'Viele Postfächer anlegen',
  lines: 'Ein Postfach in jeder Zeile',
  hint: 'Adresse, Name, Passwort: jane@acme.example, Jane Doe. Ohne Passwort wird eines erzeugt. Aus einer Tabelle einfügen oder eine CSV-Datei wählen.',
  file: 'CSV-Datei',
  preview: (count) => `${number(count)} Postfächer`,
  badLine: (line) => `Zeile ${line} beginnt nicht mit einer Adresse`,
  tooMany: (limit) => `Höchstens ${number(limit)} Postfächer auf einmal`,
  submit: 'Postfächer anlegen',
  progress: (done, total) => `${number(done)} von ${number(total)}`,
  progressLabel: 'Fortschritt',
  doneTitle: 'Postfächer angelegt',
  added: (count) => `${number(count)} Postfächer wurden angelegt.`,
  passwords: 'Adressen und Passwörter',
  passwordsHint: 'Geben Sie jeder Person ihres. Sie werden nur jetzt gezeigt.',
  failed: (count) => `${number(count)} wurden nicht angelegt:`,
  address: 'Adresse',
  why: 'Warum',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
