/// The most common public suffixes with more than one label: second-level country registries, then hosting
/// services that give each customer a subdomain.
package enum CommonPublicSuffixes {
    package static let text = """
        ae: ac co gov net org sch
        ar: com edu gob gov int net org
        at: ac co gv or
        au: act asn com edu gov id net nsw nt org qld sa tas vic wa
        bd: *
        br: adv art blog com eco edu eng gov ind jus leg mil net org srv tur tv
        ck: * !www
        cn: ac ah bj com cq edu fj gd gov gs gx gz ha hb he hi hk hl hn jl js jx ln mil net nm nx org qh sc sd sh sn \
        sx tj tw xj xz yn zj
        co: com edu gov mil net nom org
        cr: ac co ed fi go or sa
        cy: ac com gov ltd net org press
        do: com edu gob gov mil net org
        ec: com edu fin gob gov info med mil net org pro
        eg: com edu eun gov mil net org sci
        er: *
        es: com edu gob nom org
        fj: ac com gov net org
        fk: *
        fr: asso com gouv nom prd tm
        ge: com edu gov net org
        gh: com edu gov mil org
        gr: com edu gov net org
        gt: com edu gob ind mil net org
        hk: com edu gov idv net org
        hu: 2000 agrar bolt co film info org sport tm
        id: ac biz co desa go mil my net or sch web
        il: ac co gov idf k12 muni net org
        in: ac co edu firm gen gov ind mil net nic org res
        ir: ac co gov id net org sch
        it: edu gov
        jm: *
        jp: ac ad co ed go gr lg ne or aichi akita aomori chiba ehime fukui fukuoka fukushima gifu gunma hiroshima \
        hokkaido hyogo ibaraki ishikawa iwate kagawa kagoshima kanagawa kochi kumamoto kyoto mie miyagi miyazaki \
        nagano nagasaki nara niigata oita okayama okinawa osaka saga saitama shiga shimane shizuoka tochigi \
        tokushima tokyo tottori toyama wakayama yamagata yamaguchi yamanashi *.kawasaki *.kitakyushu *.kobe \
        *.nagoya *.sapporo *.sendai *.yokohama !city.kawasaki !city.kitakyushu !city.kobe !city.nagoya \
        !city.sapporo !city.sendai !city.yokohama
        ke: ac co go info me mobi ne or sc
        kh: *
        kr: ac busan co daegu es go gyeonggi hs incheon kg mil ms ne or pe re sc seoul ulsan
        kw: com edu emb gov ind net org
        kz: com edu gov mil net org
        lb: com edu gov net org
        lk: ac com edu gov net org sch
        ma: ac co gov net org press
        mm: *
        mo: com edu gov net org
        mt: com edu net org
        mx: com edu gob net org
        my: biz com edu gov mil name net org
        ng: com edu gov i mil mobi name net org sch
        np: *
        nz: ac co cri geek gen govt health iwi kiwi maori mil net org parliament school
        om: co com edu gov med museum net org pro
        pa: abo ac com edu gob ing med net nom org sld
        pe: com edu gob mil net nom org
        pg: *
        ph: com edu gov i mil net ngo org
        pk: ac biz com edu fam gob gok gon gop gos gov net org web
        pl: aid agro art atm biz com edu gov info mil net org waw
        pt: com edu gov int net nome org publ
        py: com coop edu gov mil net org
        qa: com edu gov mil name net org sch
        ro: arts com firm info nom nt org rec store tm www
        rs: ac co edu gov in org
        ru: ac edu gov int mil test
        sa: com edu gov med net org pub sch
        sg: com edu gov net org per
        sv: com edu gob org red
        th: ac co go in mi net or
        tn: com ens fin gov ind info intl mincom nat net org perso tourism
        tr: av bbs bel biz com dr edu gen gov info k12 mil name net org pol tel tv web
        tw: club com ebiz edu game gov idv mil net org
        tz: ac co go me mil mobi ne or sc tv
        ua: com dp edu gov if in kh kiev kyiv lviv net od odessa org
        ug: ac co com go ne or org sc
        uk: ac co gov ltd me net nhs org plc police *.sch
        uy: com edu gub mil net org
        uz: co com net org
        ve: co com edu gob gov info mil net org web
        vn: ac com edu gov health info name net org pro
        za: ac agric alt co edu gov law mil net ngo nom org school tm web
        zm: ac com edu gov net org
        zw: ac co gov mil org
        com: ar br cn de eu gb hu jpn kr mex no qc ru sa se uk us uy za appspot blogspot herokuapp dyndns \
        elasticbeanstalk cloudfunctions firebaseapp githubusercontent onrender pythonanywhere withgoogle \
        sinaapp ngrok myshopify wixsite
        amazonaws.com: s3 *.compute *.elb s3-website-us-east-1 s3-eu-west-1 s3-us-west-2 s3.eu-central-1 \
        s3.dualstack.us-east-1
        net: gb hu in jp se uk azurewebsites azure-mobile cloudapp cloudfront azureedge azurefd fastly dyndns
        core.windows.net: blob file web
        org: ae us dyndns eu duckdns
        io: github gitlab ngrok readthedocs azurecontainer
        app: netlify vercel web run ngrok-free fly.storage railway up.railway firebaseapp lovable
        a.run: app
        dev: pages workers r2 fly vercel deno ngrok ngrok-free is-a
        fly: dev
        me: co
        page: notion hosted codeberg
        sh: now val surge
        so: com edu gov me net org
        tv: dyndns
        cloud: jelastic
        digitaloceanspaces.com: nyc3 ams3 sgp1 fra1
        """
}
