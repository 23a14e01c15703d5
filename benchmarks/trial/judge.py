import pickle,sys,numpy as np
from rule import *
class GG: pass
def table(f,variants):
    D,recs=pickle.load(open(f,'rb')); G=GG(); G.D=D
    tot={}
    for nm,rows in recs.items():
        line=f'{nm:26s}'
        for vn,(key,fn) in variants.items():
            res=[(fn(*r[key],G),r[key][3]) for r in rows]; b=np.array([x[1] for x in res]); sd=np.sqrt((b**2).mean()); p=np.array([x[0][0] for x in res]); h=np.array([x[0][1] for x in res])
            size=100*(p<.05).mean(); pw=100*(abs(b+2.8*sd)>h).mean(); line+=f' | {vn} {size:4.1f} {pw:3.0f} w{h.mean()/1.96/sd:.2f}'; tot.setdefault(vn,[]).append((size,pw))
        print(line,flush=True)
    print('worst/mean size, mean power: ',{k:(round(max(x[0] for x in v),1),round(np.mean([x[0] for x in v]),1),round(np.mean([x[1] for x in v]),1)) for k,v in tot.items()})
R=('raw',None)
V={'rule':(R,rule),'add':(R,lambda *a:post(*a)),'addN-1':(R,lambda *a:post(*a,df='n')),'pref':(('pref',None),lambda *a:post(*a)),'common':(('raw',(3,2)),lambda *a:post(*a)),'Ires.75':(R,lambda *a:post(*a,Ires=.75)),'sure':(R,lambda *a:post(*a,sure=True))}
V|={'cens':(R,lambda *a:cens(*a)),'cens_df':(R,lambda *a:cens(*a,df='df')),'cens_cI0':(R,lambda *a:cens(*a,cI=False)),'cens_75':(R,lambda *a:cens(*a,Ires=.75)),'cens_r0':(R,lambda *a:cens(*a,cI=False,Ires=0.)),'sure_r0':(R,lambda *a:cens(*a,sure=True,cI=False,Ires=0.)),'sure_r0_df':(R,lambda *a:cens(*a,sure=True,cI=False,Ires=0.,df='df')),'qF':(R,lambda H,e,dfe,b,G:quasi_f(None,None,H,e,b)),'cens_c':(('raw',(3,2)),lambda *a:cens(*a))}
if __name__=='__main__':
    sel=sys.argv[2].split(',') if len(sys.argv)>2 else V
    table(sys.argv[1],{k:V[k] for k in sel})
