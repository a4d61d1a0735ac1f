"""Logs in with an access token, as programs of others do. Prints one line: ok or refused."""

import base64
import imaplib
import poplib
import smtplib
import socket
import ssl
import sys

protocol, port, mechanism, user, token = sys.argv[1:]
context = ssl._create_unverified_context()
if mechanism == "XOAUTH2":
    first = f"user={user}\x01auth=Bearer {token}\x01\x01".encode()
    last = b""
else:
    first = f"n,a={user},\x01host=mx\x01port={port}\x01auth=Bearer {token}\x01\x01".encode()
    last = b"\x01"
encoded = base64.b64encode(first).decode()


def imap():
    client = imaplib.IMAP4_SSL("127.0.0.1", int(port), ssl_context=context)
    answers = []

    def respond(challenge):
        answers.append(challenge)
        return first if len(answers) == 1 else last

    try:
        client.authenticate(mechanism, respond)
    except imaplib.IMAP4.error:
        return False
    client.logout()
    return True


def smtp():
    client = smtplib.SMTP("127.0.0.1", int(port))
    client.ehlo()
    client.starttls(context=context)
    client.ehlo()
    code, _ = client.docmd("AUTH", f"{mechanism} {encoded}")
    if code == 334:
        code, _ = client.docmd(base64.b64encode(last).decode())
    client.close()
    return code == 235


def pop():
    client = poplib.POP3_SSL("127.0.0.1", int(port), context=context)
    try:
        answer = client._shortcmd(f"AUTH {mechanism} {encoded}")
        if answer.startswith(b"+ "):
            answer = client._shortcmd(base64.b64encode(last).decode())
    except poplib.error_proto:
        return False
    finally:
        client.close()
    return answer.startswith(b"+OK")


def sieve():
    plain = socket.create_connection(("127.0.0.1", int(port)))
    file = plain.makefile("rb")

    def answer(stream):
        while True:
            line = stream.readline()
            if not line or line.startswith((b"OK", b"NO", b"BYE")):
                return line
            if line.startswith(b"{") or line.startswith(b'"') and b" " not in line:
                return line

    answer_until_ok(file)
    plain.sendall(b"STARTTLS\r\n")
    file.readline()
    secure = context.wrap_socket(plain)
    stream = secure.makefile("rb")
    answer_until_ok(stream)
    secure.sendall(f'AUTHENTICATE "{mechanism}" "{encoded}"\r\n'.encode())
    line = answer(stream)
    if not line.startswith((b"OK", b"NO")):
        secure.sendall(f'"{base64.b64encode(last).decode()}"\r\n'.encode())
        line = answer_until_ok(stream)
    secure.close()
    return line.startswith(b"OK")


def answer_until_ok(stream):
    while True:
        line = stream.readline()
        if not line or line.startswith((b"OK", b"NO", b"BYE")):
            return line


print("ok" if {"imap": imap, "smtp": smtp, "pop": pop, "sieve": sieve}[protocol]() else "refused")
