import pickle,sys,numpy as np
from rule import *
class GG: pass
def with_I(H,kk=None,c=2.,cap=1.25,pw=1.):
    out=[]
    for h in H:
        I=max(1,min(1+h['w']*(h['sp']-1),cap*h['R'])); 
        if kk is not None: I=1+(I-1)*min(1,h['S'][kk]/c)**pw
        out.append(dict(h,I=I))
    return out
V={'rule':lambda H,*a:rule(H,*a),'cens_r0':lambda H,*a:cens(H,*a,cI=False,Ires=0.),'cens_df':lambda H,*a:cens(H,*a,df='df'),'cens_r0df':lambda H,*a:cens(H,*a,cI=False,Ires=0.,df='df')}
for kk,k in enumerate((1,2,3,5)):
    for c in (2.,3.,4.): V[f'r0 k{k}c{c:.0f}']=lambda H,*a,kk=kk,c=c:cens(with_I(H,kk,c),*a,cI=False,Ires=0.)
for cap in (1.,1.1,1.5): V[f'r0cap{cap}']=lambda H,*a,cap=cap:cens(with_I(H,cap=cap),*a,cI=False,Ires=0.)
def table(f,names):
    D,recs=pickle.load(open(f,'rb')); G=GG(); G.D=D; tot={}
    for nm,rows in recs.items():
        line=f'{nm:26s}'
        for vn in names:
            fn=V[vn]; res=[fn(*r,G) for r in rows]
            if nm=='lists': line+=f'\n    {vn}: '+' '.join(f'{x[0]:.3f}' for x in res); continue
            b=np.array([r[3] for r in rows]); sd=np.sqrt((b**2).mean()); p=np.array([x[0] for x in res]); h=np.array([x[1] for x in res])
            size=100*(p<.05).mean(); pw=100*(abs(b+2.8*sd)>h).mean(); line+=f' | {vn} {size:4.1f} {pw:3.0f} w{h.mean()/1.96/sd:.2f}'; tot.setdefault(vn,[]).append((size,pw))
        print(line,flush=True)
    print('worst/mean size, mean power: ',{k:(round(max(x[0] for x in v),1),round(np.mean([x[0] for x in v]),1),round(np.mean([x[1] for x in v]),1)) for k,v in tot.items()})
table(sys.argv[1],sys.argv[2].split(','))
