Content-Type: multipart/mixed; boundary="===============7743428956453402397=="
MIME-Version: 1.0
Number-Attachments: 1

--===============7743428956453402397==
MIME-Version: 1.0
Content-Type: text/plain; charset="utf-8"
Content-Disposition: attachment; filename="part-001"

#cloud-config
runcmd: [a]

--===============7743428956453402397==--
